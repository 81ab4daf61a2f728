#if Vips
import Foundation

/// An image file of the tests of `InwardImageCodecs`.
struct SharedFixture {
    let name: String
    private let url: URL

    func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }

    /// All PNG files.
    static let pngs = files("Fixtures", "png")
    /// The JPEG files without CMYK. libvips converts inks with a color profile, and the Swift codec without.
    static let jpegs = files("Fixtures/JPEG", "jpg").filter { !$0.name.contains("cmyk") && !$0.name.contains("ycck") }

    private static func files(_ folder: String, _ pathExtension: String) -> [SharedFixture] {
        var tests = URL(filePath: #filePath)
        for _ in 0..<3 { tests.deleteLastPathComponent() }
        let directory = tests.appending(path: "Libraries/InwardImageCodecsTests").appending(path: folder)
        let files = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == pathExtension }
            .map { SharedFixture(name: $0.deletingPathExtension().lastPathComponent, url: $0) }
            .sorted { $0.name < $1.name }
    }
}
#endif
