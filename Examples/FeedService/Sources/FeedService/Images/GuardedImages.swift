import Foundation
import Infrastructure
import InwardCore
import InwardFetching
import InwardImageServing

extension FetchingImageSource {
    /// Creates the source of the images of an upstream, which requests nothing else in the network of the service.
    ///
    /// A signed address can be absolute, and the upstream can redirect any request.
    ///
    /// - Parameters:
    ///   - upstream: The base address of the upstream, which may be internal; `nil` for the built-in sample, which has no other addresses.
    ///   - dataFetcher: The fetcher of the upstream. Its limits and its circuit are also those of images.
    ///   - errorHandler: Receives the error of a fetcher that cannot check addresses. No image is requested then.
    init(of upstream: URL?, by dataFetcher: any DataFetcher, errorHandler: any ErrorHandler) {
        guard let upstream else {
            self.init(dataFetcher, relativeTo: SampleDataFetcher.baseURL)
            return
        }
        let guarded: any DataFetcher
        do throws(AddressPolicyError) {
            guarded = try dataFetcher.guarding(with: AddressPolicy.publicInternet.trusting(originOf: upstream))
        } catch {
            errorHandler.handle(error)
            guarded = RefusingDataFetcher()
        }
        self.init(guarded, relativeTo: upstream)
    }
}

/// A fetcher that sends nothing.
private struct RefusingDataFetcher: DataFetcher {
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(
            .addressRefused,
            request: request,
            explanation: "was not sent, because its address cannot be checked",
            wasSent: false
        )
    }
}
