import Infrastructure
import InterfaceAdapters
import InwardFetching
import InwardRepositories
import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@main
struct Fetching {
    static func main() async throws {
        guard let baseURL = URL(string: "https://upstream.example") else { return }
        let dataFetcher = OwnDataFetcher().timingOut(after: .seconds(2)).retrying(.standard)
        let upstream = Upstream(baseURL: baseURL, dataFetcher: dataFetcher)
        let reading = try await ListOrders(orders: UpstreamOrderRepository(upstream: upstream))()
        for order in reading.value { print("\(order.count) × \(order.article)") }
        for record in reading.rejected { print(record) }
    }
}
