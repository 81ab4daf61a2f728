import Foundation
import InwardImages

/// An image source that reads the same file for every address, each time anew.
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
