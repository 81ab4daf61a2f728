public import InwardFetching
public import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An image source that loads images with a data fetcher.
///
///     let source = FetchingImageSource(fetcher, relativeTo: URL(string: "https://example.org/images"))
///     let loader = ImageLoader(source: source, codec: codec)
///     let image = try await loader.loadImage(from: "cat.jpg")
public struct FetchingImageSource: ImageSource {
    private let fetcher: any DataFetcher
    private let baseURL: URL?

    /// Creates a source from a data fetcher.
    ///
    /// - Parameters:
    ///   - fetcher: The fetcher that loads the images.
    ///   - baseURL: The base URL of relative addresses, which must stay below it, or `nil` if all addresses are
    ///     absolute. Absolute addresses are always used unchanged.
    public init(_ fetcher: any DataFetcher, relativeTo baseURL: URL? = nil) {
        self.fetcher = fetcher
        self.baseURL = baseURL
    }

    /// Returns the body of a successful response.
    ///
    /// - Throws: An `ImageError` if the response is not successful, if there is no response, or if the address is
    ///   invalid.
    public func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        guard let url = url(of: address) else {
            throw ImageError(
                .notFound,
                of: address,
                explanation: "has an address that cannot be read, or leads elsewhere"
            )
        }
        let request = DataRequest(url: url, headerFields: [HeaderField(.accept, "image/*")])
        do throws(FetchError) {
            let response = try await fetcher.limitingSize(to: limit).fetch(request)
            guard response.status.isSuccess else {
                // A fallback's error status says nothing about the server that was asked first.
                if let fallbackReason = response.fallbackReason { throw fallbackReason }
                throw FetchError(response, to: request)
            }
            return EncodedImage([UInt8](response.body), isGenuine: response.fallbackReason == nil)
        } catch {
            throw ImageError(error, of: address)
        }
    }

    private func url(of address: ImageAddress) -> URL? {
        guard let url = URL(string: address.rawValue) else { return nil }
        guard url.scheme == nil, let baseURL else { return url }
        let directory = baseURL.appending(path: "", directoryHint: .isDirectory)
        guard let url = URL(string: address.rawValue, relativeTo: directory)?.absoluteURL,
            url.absoluteString.hasPrefix(directory.absoluteString),
            Self.staysBelow(url.absoluteString.dropFirst(directory.absoluteString.count))
        else { return nil }
        return url
    }

    /// Returns whether a path stays below the base, even if a server decodes its percent-encoded characters.
    private static func staysBelow(_ path: Substring) -> Bool {
        let path = path.prefix { $0 != "?" && $0 != "#" }.lowercased()
        guard !path.contains("%2f"), !path.contains("%5c"), !path.contains("\\") else { return false }
        return path.split(separator: "/").allSatisfy { segment in
            ![".", ".."].contains(segment.replacing("%2e", with: "."))
        }
    }
}

extension ImageError {
    fileprivate init(_ error: FetchError, of address: ImageAddress) {
        let reason: Reason =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .unsuccessful: error.status.map(Self.reason) ?? .unavailable
            case .closed, .rejected, .unreachable, .untrusted, .interrupted, .tooManyRedirects, .invalidRequest,
                .unreadable:
                .unavailable
            }
        self.init(reason, of: address, explanation: error.explanation)
    }

    private static func reason(_ status: DataResponse.Status) -> Reason {
        switch status.code {
        case 404, 410: .notFound
        case 401, 403, 407, 451: .denied
        default: .unavailable
        }
    }
}
