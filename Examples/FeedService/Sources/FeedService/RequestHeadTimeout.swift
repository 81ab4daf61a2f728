import NIOCore
import NIOHTTPTypes

/// Closes a connection whose next request does not begin in time.
///
/// The idle timeout does not do that if the client goes on with the content of a request that is already answered: every part of it starts
/// that timeout again.
final class RequestHeadTimeout: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    /// When the connection is closed; `nil` while a request is being answered.
    private var deadline: NIODeadline?
    /// Looks at the deadline. There is one at a time, because starting and cancelling one for each request would take longer.
    private var look: Scheduled<Void>?
    /// The number of requests that are not answered yet.
    private var unanswered = 0

    /// - Parameter limit: The time from the end of a response, or from the beginning of the connection, to the end of the head of a request.
    init(_ limit: Duration) { self.limit = TimeAmount(limit) }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            unanswered += 1
            deadline = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered -= 1
            if unanswered == 0 { start(context) }
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func start(_ context: ChannelHandlerContext) {
        deadline = context.eventLoop.now + limit
        if look == nil { schedule(at: context.eventLoop.now + limit, context) }
    }

    private func schedule(at time: NIODeadline, _ context: ChannelHandlerContext) {
        look = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            look = nil
            guard let deadline else { return }
            guard deadline <= context.eventLoop.now else { return schedule(at: deadline, context) }
            context.close(promise: nil)
        }
    }

    private func end() {
        deadline = nil
        look?.cancel()
        look = nil
    }
}
