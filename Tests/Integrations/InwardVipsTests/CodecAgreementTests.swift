#if Vips
import InwardImageCodecs
import InwardImages
import InwardVips
import Testing

/// Tests that plugins give the same results for images of both codecs, except for rounding.
@Suite(.timeLimit(.minutes(5)))
struct CodecAgreementTests {
    private let swift = SwiftImageCodec()
    private let vips = VipsImageCodec()

    private func decoded(_ bytes: [UInt8], reduction: Int = 1) throws -> (swift: Image, vips: Image) {
        let options = ImageDecodingOptions(reduction: reduction)
        return (try swift.image(from: bytes, options), try vips.image(from: bytes, options))
    }

    /// Returns the reductions that both codecs offer and that divide both sides.
    private func reductions(of bytes: [UInt8]) throws -> [Int] {
        let (one, other) = (try swift.header(of: bytes), try vips.header(of: bytes))
        return one.reductions.filter {
            other.reductions.contains($0) && one.size.width % $0 == 0 && one.size.height % $0 == 0
        }
    }

    @Test func fixturesOfBothFormatsExist() throws {
        #expect(SharedFixture.pngs.count > 90)
        #expect(SharedFixture.jpegs.count > 40)
        #expect(try SharedFixture.jpegs.count { try reductions(of: $0.bytes()).count == 4 } > 6)
    }

    @Test func pixelsOfPNGAreEqual() throws {
        for fixture in SharedFixture.pngs {
            let (one, other) = try decoded(fixture.bytes())
            #expect(one == other, "\(fixture.name)")
        }
    }

    @Test func colorsOfJPEGDifferByAtMostOneLevel() throws {
        for fixture in SharedFixture.jpegs {
            let (one, other) = try decoded(fixture.bytes())
            #expect(one.orientation == other.orientation, "\(fixture.name)")
            #expect(one.difference(from: other) <= 1, "\(fixture.name)")
        }
    }

    @Test func colorsOfReducedJPEGDifferByAtMostTwoLevels() throws {
        for fixture in SharedFixture.jpegs {
            let bytes = try fixture.bytes()
            for reduction in try reductions(of: bytes) {
                let (one, other) = try decoded(bytes, reduction: reduction)
                #expect(one.difference(from: other) <= 2, "\(fixture.name) by \(reduction)")
            }
        }
    }

    /// libvips omits an incomplete last column or row, so the codec repeats the one before it.
    @Test func onlyTheLastColumnAndRowDifferMoreForIndivisibleSides() throws {
        for fixture in SharedFixture.jpegs {
            let bytes = try fixture.bytes()
            let (size, reductions) = (try vips.header(of: bytes).size, try vips.header(of: bytes).reductions)
            for reduction in reductions {
                let (one, other) = try decoded(bytes, reduction: reduction)
                #expect(one.size == other.size, "\(fixture.name) by \(reduction)")
                let rest = Crop(to: ImageSize(clamping: size.width / reduction, size.height / reduction), x: 0, y: 0)
                let difference = rest.filtered(one).difference(from: rest.filtered(other))
                #expect(difference <= 2, "\(fixture.name) by \(reduction)")
            }
        }
    }

    @Test(arguments: ShippedPlugin.all)
    func pluginGivesEqualResultsForPNG(plugin: ShippedPlugin) async throws {
        for fixture in SharedFixture.pngs where !fixture.name.hasPrefix("passes") {
            let (one, other) = try decoded(fixture.bytes())
            #expect(try await plugin.applied(to: one) == plugin.applied(to: other), "\(fixture.name)")
        }
    }

    @Test(arguments: ShippedPlugin.all)
    func pluginGivesNearlyEqualResultsForJPEG(plugin: ShippedPlugin) async throws {
        for fixture in SharedFixture.jpegs where ["444", "420", "orientation"].contains(where: fixture.name.contains) {
            let bytes = try fixture.bytes()
            for reduction in try reductions(of: bytes) {
                let (one, other) = try decoded(bytes, reduction: reduction)
                let difference = try await plugin.applied(to: one).difference(from: plugin.applied(to: other))
                #expect(difference <= plugin.tolerance, "\(fixture.name) by \(reduction)")
            }
        }
    }

    @Test(arguments: ShippedPlugin.all)
    func pluginGivesNearlyEqualResultsForEncodedImages(plugin: ShippedPlugin) async throws {
        let image = Image.landscape(size: ImageSize(clamping: 96, 64))
        for codec: any ImageCodec in [swift, vips] {
            let (one, other) = try decoded(codec.bytes(of: image, as: .png))
            #expect(one == image && other == image)
            for subsampling in [ImageEncoding.Subsampling.none, .quarter] {
                let bytes = try codec.bytes(of: image, as: .jpeg(quality: 85, subsampling: subsampling))
                for reduction in try reductions(of: bytes) {
                    let (one, other) = try decoded(bytes, reduction: reduction)
                    let difference = try await plugin.applied(to: one).difference(from: plugin.applied(to: other))
                    #expect(difference <= plugin.tolerance, "by \(reduction)")
                }
            }
        }
    }
}
#endif
