public import InwardFetching
public import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An image source that loads images with a data fetcher.
///
/// ```swift
/// let source = FetchingImageSource(fetcher, relativeTo: URL(string: "https://cdn.example.org/images"))
/// let loader = ImageLoader(source: source, codec: codec)
/// let image = try await loader.loadImage(from: "avatars/7.jpg")
/// ```
///
/// It sends `GET` requests that accept `image/*`, and limits the body to the size that the loader allows. A response from a
/// fallback is marked as a substitute, so the loader does not cache it.
public struct FetchingImageSource: ImageSource {
    private let fetcher: any DataFetcher
    private let baseURL: URL?

    /// Creates a source from a data fetcher.
    ///
    /// - Parameters:
    ///   - fetcher: The fetcher that loads the images.
    ///   - baseURL: The directory that relative addresses are resolved against, or `nil` if all addresses are absolute. A
    ///     relative address that leads outside this directory fails as not found. Absolute addresses are used unchanged. If
    ///     addresses come from clients, pass a fetcher that is guarded with `DataFetcher.guarding(with:)`.
    public init(_ fetcher: any DataFetcher, relativeTo baseURL: URL? = nil) {
        self.fetcher = fetcher
        self.baseURL = baseURL
    }

    /// Returns the body of a successful response.
    ///
    /// - Throws: An `ImageError`. Its reason is `notFound` for an invalid or refused address or the status 404 or 410, and `denied` for
    ///   401, 403, 407 or 451. It is `cancelled`, `timedOut` or `tooLarge` if the fetch fails for this reason, and
    ///   `unavailable` for all other failures.
    public func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        guard let url = url(of: address) else {
            throw ImageError(
                .notFound,
                of: address,
                explanation: "was not requested: its address is not a valid URL, or leads outside the base URL"
            )
        }
        let request = DataRequest(url: url, headerFields: [HeaderField(.accept, "image/*")])
        do throws(FetchError) {
            let response = try await fetcher.limitingSize(to: limit).fetch(request)
            guard response.status.isSuccess else {
                // Report why the fallback was used. The fallback's status says nothing about the upstream.
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

    /// Returns whether a path stays below the base URL, even if a server decodes its percent-encoded characters.
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
            // As for an address outside the base URL. The response must not say more about what is there.
            case .addressRefused: .notFound
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
