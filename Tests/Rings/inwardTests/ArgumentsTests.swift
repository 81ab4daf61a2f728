import InterfaceAdapters
import InwardCommandLine
import InwardFetching
import Testing

@testable import inward

struct ArgumentsTests {
    private func arguments(_ words: String...) throws(UsageError) -> Arguments {
        try Arguments(words)
    }

    @Test func overviewOfTheSampleIsTheDefault() throws {
        let arguments = try arguments()
        #expect(arguments.upstream == nil)
        #expect(arguments.task == .overview(output: nil))
    }

    @Test func upstreamAndOutputMayComeInAnyOrder() throws {
        for words in [
            ["up", "--output", "out"], ["--output", "out", "up"], ["--output=out", "up"], ["up", "--output=out"],
        ] {
            let arguments = try Arguments(words)
            #expect(arguments.upstream == "up")
            #expect(arguments.task == .overview(output: "out"))
        }
    }

    @Test func destinationAndIntervalAreParsed() throws {
        #expect(try arguments("up", "--open", "users/7").task == .open(try #require(Destination("users/7"))))
        #expect(try arguments("--watch=86400").task == .watch(every: .seconds(86_400)))
    }

    @Test func mirrorIsParsed() throws {
        #expect(try arguments("up", "--mirror", "copy").task == .mirror(into: "copy"))
        #expect(throws: UsageError("--mirror needs a directory")) { try arguments("--mirror") }
        let onlyOne = UsageError("only one of --output, --open, --watch, --mirror, --publish and --outbox is allowed")
        #expect(throws: onlyOne) { try arguments("--output", "out", "--mirror", "copy") }
    }

    @Test func storeCanBeCombinedWithEveryTask() throws {
        #expect(try arguments("up").store == nil)
        #expect(try arguments("--store", "kept", "up").task == .overview(output: nil))
        let arguments = try arguments("up", "--publish", "--store=kept")
        #expect(arguments.upstream == "up" && arguments.store == "kept")
        #expect(arguments.task == .publish)
    }

    @Test func outboxActionsAreParsed() throws {
        #expect(try arguments("--store=kept", "--outbox").task == .outbox(.list))
        for words in [["--outbox", "--retry", "3f"], ["--retry=3f", "--outbox"], ["--retry=3f"]] {
            #expect(try Arguments(words + ["--store", "kept"]).task == .outbox(.retry("3f")))
        }
        #expect(try arguments("--store=kept", "--outbox", "--discard=3f").task == .outbox(.discard("3f")))
    }

    @Test func timeoutIsParsed() throws {
        #expect(try arguments("up").timeout == nil)
        #expect(try arguments("up", "--timeout", "0.5", "--publish").timeout == .milliseconds(500))
    }

    @Test func imageHostsAreParsed() throws {
        #expect(try arguments("up").imageAddressPolicy == nil)
        #expect(try arguments("up", "--image-hosts", "public").imageAddressPolicy == .publicInternet)
        let hosts = try AddressPolicy(hosts: ["cdn.example.org", ".example.net"])
        #expect(try arguments("up", "--image-hosts=.example.net,cdn.example.org").imageAddressPolicy == hosts)
    }

    @Test func argumentAfterTwoDashesIsNotAnOption() throws {
        #expect(try arguments("--", "--output").upstream == "--output")
    }

    @Test(arguments: ["--help", "-h"])
    func helpOverridesEverythingElse(word: String) throws {
        #expect(try arguments("up", word).task == .help)
        #expect(try arguments("--watch", "1", word, "--open", "users").task == .help)
    }

    @Test(arguments: [
        (["--output"], "--output needs a directory"), (["--output", ""], "--output needs a directory"),
        (["--output="], "--output needs a directory"),
        (["--output", "a", "--output=b"], "--output can be given only once"),
        (["--timeout=1", "--timeout=2"], "--timeout can be given only once"),
        (
            ["--open", "users", "--watch=1"],
            "only one of --output, --open, --watch, --mirror, --publish and --outbox is allowed"
        ),
        (
            ["--publish", "--watch=1"],
            "only one of --output, --open, --watch, --mirror, --publish and --outbox is allowed"
        ),
        (["--publish=x"], "there is no option --publish=x"), (["--outbox=x"], "there is no option --outbox=x"),
        (["--help=x"], "there is no option --help=x"), (["-h=x"], "there is no option -h=x"),
        (["--store"], "--store needs a directory or a database"),
        (["--store", "a", "--store=b"], "--store can be given only once"),
        (["--open"], "--open needs a place, such as users/7"), (["--open=7"], "--open needs a place, such as users/7"),
        (["--watch", "0"], "--watch needs a number of seconds, from 1 to 86400"),
        (["--watch=86401"], "--watch needs a number of seconds, from 1 to 86400"),
        (["--watch", "soon"], "--watch needs a number of seconds, from 1 to 86400"),
        (["a", "b"], "only one UPSTREAM is allowed"), (["--verbose"], "there is no option --verbose"),
        (["-x"], "there is no option -x"),
        (["--outbox"], "--outbox needs --store, which has the posts"),
        (["--store", "kept", "--retry"], "--retry needs the beginning of an ID that --outbox lists"),
        (
            ["--store", "kept", "--retry", "a", "--discard", "b"],
            "--retry and --discard can be used only with --outbox, and not together"
        ),
        (["--publish", "--discard", "b"], "--retry and --discard can be used only with --outbox, and not together"),
        (["--timeout", "0"], "--timeout needs a number of seconds, from 0.01 to 3600"),
        (["--timeout", "3601"], "--timeout needs a number of seconds, from 0.01 to 3600"),
        (["--image-hosts", "*.example.org"], "--image-hosts needs host names, or public"),
        (["--image-hosts", "a.example.org,"], "--image-hosts needs host names, or public"),
        (["--timeout", "nan"], "--timeout needs a number of seconds, from 0.01 to 3600"),
    ])
    func invalidArgumentsAreRejectedWithTheReason(words: [String], explanation: String) {
        #expect(throws: UsageError(explanation)) { try Arguments(words) }
    }
}
