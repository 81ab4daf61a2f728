#if AsyncHTTPClient
import AsyncHTTPClient
import InwardFetching
import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension FetchError {
    /// What an error of the client, or of what it is made of, means for a request.
    init(_ error: any Error, of request: DataRequest) {
        let (reason, explanation) =
            switch error {
            case let error as HTTPClientError: Self.meaning(of: error)
            case is NIOConnectionError: Self.unreachable(error)
            case let error as IOError where Self.codesOfNobody.contains(error.errnoCode): Self.unreachable(error)
            case let error as IOError where error.errnoCode == ETIMEDOUT: Self.timedOut
            case let error as NIOSSLError where Self.isDistrust(error): Self.untrusted(error)
            case let error as NIOSSLExtraError where Self.kindsOfDistrust.contains(error): Self.untrusted(error)
            default: (Reason.interrupted, "was not answered whole: \(error)")
            }
        self.init(reason, request: request, explanation: explanation)
    }

    /// What the system says before anything can have been sent. "No route to host" can also come later.
    private static let codesOfNobody = [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL]

    private static let timedOut = (Reason.timedOut, "was not answered in time")

    private static func unreachable(_ error: any Error) -> (Reason, String) {
        (.unreachable, "reached nobody: \(error)")
    }

    private static func untrusted(_ error: any Error) -> (Reason, String) {
        (.untrusted, "reached a host that could not prove who it is: \(error)")
    }

    private static func isDistrust(_ error: NIOSSLError) -> Bool {
        switch error {
        case .handshakeFailed, .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel,
            .cannotFindPeerIP:
            true
        case .writeDuringTLSShutdown, .unableToAllocateBoringSSLObject, .noSuchFilesystemObject,
            .failedToLoadCertificate,
            .failedToLoadPrivateKey, .shutdownFailed, .readInInvalidTLSState, .uncleanShutdown:
            false
        }
    }

    private static let kindsOfDistrust = [
        NIOSSLExtraError.failedToValidateHostname, .serverHostnameImpossibleToMatch,
    ]

    private static func meaning(of error: HTTPClientError) -> (Reason, String) {
        // Never the whole description: it shows the header fields that are refused.
        let kind = error.shortDescription
        return switch kind {
        case _ where kindsOfTimeout.contains(kind): timedOut
        case _ where kindsOfRefusal.contains(kind): (.invalidRequest, "is not what the client can ask: \(kind)")
        case HTTPClientError.alreadyShutdown.shortDescription:
            (.closed, "was asked of a client that is closed")
        case HTTPClientError.redirectLimitReached.shortDescription,
            HTTPClientError.redirectCycleDetected.shortDescription:
            (.tooManyRedirects, "was redirected too often: \(kind)")
        case HTTPClientError.cancelled.shortDescription:
            (.interrupted, "was not answered whole: the client was closed meanwhile")
        default: (.interrupted, "was not answered whole: \(kind)")
        }
    }

    private static let kindsOfTimeout = Set(
        [
            HTTPClientError.readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded,
            .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
        ].map(\.shortDescription)
    )

    private static let kindsOfRefusal = Set(
        [
            HTTPClientError.invalidURL, .emptyHost, .emptyScheme, .unsupportedScheme(""), .missingSocketPath,
            .traceRequestWithBody, .invalidHeaderFieldNames([]), .invalidHeaderFieldValues([]), .bodyLengthMismatch,
        ].map(\.shortDescription)
    )
}
#endif
