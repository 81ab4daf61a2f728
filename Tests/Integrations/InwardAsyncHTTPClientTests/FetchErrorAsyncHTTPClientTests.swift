#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import InwardFetching
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import InwardAsyncHTTPClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

struct FetchErrorAsyncHTTPClientTests {
    private let request: DataRequest

    private static let interruptions: [any Error] = [
        HTTPClientError.cancelled, HTTPClientError.remoteConnectionClosed, HTTPClientError.requestStreamCancelled,
        HTTPClientError.invalidProxyResponse, HTTPParserError.invalidEOFState, HTTPParserError.headerOverflow,
        NIOSSLError.uncleanShutdown, NIOSSLExtraError.invalidSNIHostname, ChannelError.eof,
        IOError(errnoCode: ECONNRESET, reason: "read"), IOError(errnoCode: EHOSTUNREACH, reason: "read"),
    ]

    private static let untrusted: [any Error] = [
        NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])), NIOSSLError.unableToValidateCertificate,
        NIOSSLError.noCertificateToValidate, NIOSSLError.cannotMatchULabel, NIOSSLError.cannotFindPeerIP,
        NIOSSLExtraError.failedToValidateHostname, NIOSSLExtraError.serverHostnameImpossibleToMatch,
    ]

    init() throws {
        request = DataRequest(
            url: try #require(URL(string: "http://upstream.test/")),
            headerFields: [HeaderField(.authorization, "Bearer s3cret")]
        )
    }

    @Test(arguments: [
        HTTPClientError.readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
        .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
    ])
    func allTimeoutsOfTheClientAreTimeouts(error: HTTPClientError) {
        #expect(FetchError(error, of: request).reason == .timedOut)
    }

    @Test(arguments: [
        HTTPClientError.invalidURL, .emptyHost, .emptyScheme, .unsupportedScheme("s3cret"), .missingSocketPath,
        .traceRequestWithBody, .invalidHeaderFieldNames(["s3cret"]), .invalidHeaderFieldValues(["other s3cret"]),
        .bodyLengthMismatch,
    ])
    func requestThatTheClientRejectsIsInvalid(error: HTTPClientError) {
        let error = FetchError(error, of: request)
        #expect(error.reason == .invalidRequest)
        #expect(!error.canRetry)
        #expect(!error.explanation.contains("s3cret"))
        #expect(!error.explanation.contains("other"))
    }

    @Test func closedClientIsReportedAsClosed() {
        #expect(FetchError(HTTPClientError.alreadyShutdown, of: request).reason == .closed)
    }

    @Test(arguments: [HTTPClientError.redirectLimitReached, .redirectCycleDetected])
    func redirectErrorOfTheClientMeansTooManyRedirects(error: HTTPClientError) {
        #expect(FetchError(error, of: request).reason == .tooManyRedirects)
    }

    @Test(arguments: interruptions)
    func failureAfterSendingMayHaveBegunIsAnInterruption(error: any Error) {
        let error = FetchError(error, of: request)
        #expect(error.reason == .interrupted)
        #expect(error.explanation.hasPrefix("got no complete response: "))
    }

    @Test(arguments: [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL])
    func failureBeforeSendingIsUnreachable(code: CInt) {
        #expect(FetchError(IOError(errnoCode: code, reason: "connect"), of: request).reason == .unreachable)
    }

    @Test func systemTimeoutIsATimeout() {
        #expect(FetchError(IOError(errnoCode: ETIMEDOUT, reason: "read"), of: request).reason == .timedOut)
    }

    @Test(arguments: untrusted)
    func failedIdentityCheckIsUntrusted(error: any Error) {
        #expect(FetchError(error, of: request).reason == .untrusted)
    }

    @Test func unknownErrorRevealsNoCredential() {
        struct Unknown: Error { let text = "sent Bearer s3cret" }
        let error = FetchError(Unknown(), of: request)
        #expect(error.reason == .interrupted)
        #expect(!error.description.contains("s3cret"))
    }
}
#endif
