import InwardImageCodecs
import InwardImages
import InwardScopes

#if Vips
import InwardVips
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
