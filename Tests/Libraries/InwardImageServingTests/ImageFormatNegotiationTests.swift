import InwardImageServing
import InwardImages
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ImageFormatNegotiationTests {
    private static let formats = ImageFormatNegotiation(
        preferring: [ImageEncoding(.avif, quality: 55), ImageEncoding(.webP, quality: 75)],
        opaque: .jpeg(quality: 82),
        transparent: .png
    )

    private func choice(_ accept: String...) -> String {
        let choice = Self.formats.choice(accept: accept)
        let names = [choice.opaque.format.name, choice.transparent.format.name]
        return names[0] == names[1] ? names[0] : names.joined(separator: "/")
    }

    @Test func namedFormatIsChosenInTheOrderOfTheServer() {
        // Chrome, Firefox 128, Safari.
        #expect(choice("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8") == "AVIF")
        #expect(choice("image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5") == "AVIF")
        #expect(
            choice("image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/*;q=0.8")
                == "AVIF"
        )
        #expect(choice("image/webp,*/*;q=0.8") == "WebP")
        #expect(choice("IMAGE/WebP") == "WebP")
        #expect(choice("text/html", "image/webp") == "WebP")
    }

    @Test func wildcardsGetFormatsThatAllClientsCanRead() {
        for accept in ["*/*", "image/*", "image/*,*/*;q=0.8", "text/html,*/*", "image/*;q=0.001"] {
            #expect(choice(accept) == "JPEG/PNG", "\(accept)")
        }
        #expect(choice() == "JPEG/PNG")
        #expect(choice("") == "JPEG/PNG")
    }

    @Test func pngForOtherReasonsDoesNotReplaceJPEG() {
        // Older versions of Firefox name PNG, and accept JPEG through a wildcard.
        #expect(choice("image/png,image/*;q=0.8,*/*;q=0.5") == "JPEG/PNG")
        #expect(choice("image/png") == "PNG")
        #expect(choice("image/jpeg") == "JPEG")
        #expect(choice("image/jpeg;q=0, image/*") == "PNG")
    }

    @Test func highestQualityWins() {
        #expect(choice("image/avif;q=0.5,image/webp;q=0.9") == "WebP")
        #expect(choice("image/avif;q=0.500,image/webp;q=0.501") == "WebP")
        #expect(choice("image/webp;q=0.5,image/jpeg") == "JPEG")
        #expect(choice("image/webp;q=0.5,image/jpeg;q=0.4") == "WebP")
        #expect(choice("image/webp;q=0.5,image/*") == "JPEG/PNG")
        #expect(choice("image/webp;q=0,image/avif;q=0.0,*/*") == "JPEG/PNG")
    }

    @Test func mostSpecificMemberDecides() {
        #expect(choice("image/*;q=0,*/*,image/webp") == "WebP")
        #expect(choice("*/*;q=1,image/*;q=0.1,image/webp;q=0.2") == "WebP")
        #expect(choice("*/*;q=0.1,image/jpeg;q=0.9,image/webp;q=0.5") == "JPEG/PNG")
    }

    @Test func clientThatAcceptsNothingGetsTheSameAsOneThatAcceptsAll() {
        #expect(choice("text/html") == "JPEG/PNG")
        #expect(choice("*/*;q=0") == "JPEG/PNG")
        #expect(choice("image/gif, image/tiff") == "JPEG/PNG")
    }

    @Test(arguments: [
        "image/webp;q=1.1", "image/webp;q=2", "image/webp;q=-1", "image/webp;q=0.1234", "image/webp;q=",
        "image/webp;q=a",
        "image/webp;q=.5", "image/webp;q = 1", "image/webp;q=0.5;q=1", "image/webp;level=1", "image/webp;v=\"a,b\";q=1",
        "webp", "image/",
        "/webp", "image/webp/x", "*/webp", "image webp", "image/we bp", "image/webp\u{0}", "ïmage/webp",
        "\"image/webp\"",
        "text/x;a=\",image/webp,\"", "text/x;a=\"\\\",image/webp,\"",
    ])
    func malformedMembersAreIgnored(member: String) {
        #expect(choice(member) == "JPEG/PNG")
        #expect(choice("\(member), image/webp;q=0.5, text/html") != "AVIF")
        // A quotation mark that is not closed hides what follows it.
        if member.filter({ $0 == "\"" }).count.isMultiple(of: 2) {
            #expect(choice("\(member), image/avif;q=0.5, image/jpeg;q=0.1") == "AVIF")
        }
    }

    @Test func spacesEmptyMembersAndExtensionsAreAllowed() {
        #expect(choice(" , image/webp ; q=0.9 ,, ") == "WebP")
        #expect(choice("image/webp;Q=0.9;ext=1") == "WebP")
        #expect(choice("image/webp;") == "WebP")
        #expect(choice("image/webp;q=1.\t") == "WebP")
    }

    @Test func overlongFieldCountsAsAbsent() {
        let long = String(repeating: "image/webp,", count: 500)
        #expect(choice(long) == "JPEG/PNG")
        #expect(choice("image/webp," + String(repeating: " ", count: 4_000)) == "WebP")
        #expect(choice(String(repeating: ",", count: 4_096)) == "JPEG/PNG")
    }

    @Test func transparencySelectsPNGOnlyIfTheServerSaysSo() {
        let clear = Image(size: ImageSize(clamping: 2, 2))
        let opaque = Image(size: ImageSize(clamping: 2, 2), color: .black)
        let choice = Self.formats.choice(accept: ["*/*"])
        #expect(choice.encoding(for: clear) == .png && choice.encoding(for: opaque) == .jpeg(quality: 82))
        let webP = Self.formats.choice(accept: ["image/webp"])
        #expect(webP.encoding(for: clear).format == .webP && webP.encoding(for: opaque).format == .webP)
        let withoutPNG = ImageFormatNegotiation(opaque: .jpeg(quality: 82), transparent: nil).choice(accept: ["*/*"])
        #expect(withoutPNG.encoding(for: clear) == .jpeg(quality: 82))
    }
}
