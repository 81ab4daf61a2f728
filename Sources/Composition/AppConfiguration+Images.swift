import Infrastructure
import UseCases

#if Vips
import InfrastructureVips
#endif

extension AppConfiguration {
    /// What makes pictures of bytes, and bytes of pictures, closed with the scope that is being opened if it needs that.
    func makeImageCodec(for opening: inout ScopeOpening) -> any ImageCodec {
        #if Vips
        opening.closing(VipsImageCodec(), as: "imageCodec") { $0.close() }
        #else
        SwiftImageCodec()
        #endif
    }
}
