import Foundation
import InwardImages

/// Has the same file at every address, read anew each time.
struct FileImageSource: ImageSource {
    let file: URL

    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        do {
            return EncodedImage([UInt8](try Data(contentsOf: file)))
        } catch {
            throw ImageError(.unavailable, of: address, explanation: "cannot be read: \(error)")
        }
    }
}
