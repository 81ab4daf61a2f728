import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import FeedService

struct RequestHeadTimeoutTests {
    private let head = HTTPRequestPart.head(HTTPRequest(method: .get, scheme: "http", authority: "a.test", path: "/"))

    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: RequestHeadTimeout(.seconds(10)))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/client")).wait()
        return channel
    }

    private func answer(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func connectionWithoutARequestIsClosed() throws {
        let channel = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func requestHasAllTheTimeThatItsAnswerTakes() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        #expect(channel.isActive)
        try answer(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        try channel.writeInbound(head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func connectionIsClosedAfterAnAnswerThatNoRequestFollows() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        try answer(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test func contentAfterTheAnswerDoesNotKeepTheConnectionOpen() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        try answer(channel)
        for _ in 1...9 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func requestThatArrivedBeforeTheAnswerToAnotherKeepsItsTime() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        try channel.writeInbound(head)
        try answer(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        #expect(channel.isActive)
        _ = try channel.finish()
    }
}
