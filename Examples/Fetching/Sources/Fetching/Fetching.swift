import InterfaceAdapters
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
        let upstream = Upstream(baseURL: baseURL, dataFetcher: OwnDataFetcher())
        let listUsers = ListUsers(users: UpstreamUserRepository(upstream: upstream))
        let viewModel = UserListPresenter().present(try await listUsers())
        print(TextRenderer().render(viewModel.document), terminator: "")
    }
}
