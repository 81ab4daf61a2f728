import InwardCore
import UseCases

/// Whether caches in front of the service may use an answer.
enum Freshness {
    /// They may use it for a while.
    case fresh
    /// The upstream may have changed, so they must ask again. If the service fails, they may use it.
    case stale
    /// They must not keep it: parts are missing, because the upstream failed, or parts are pending and have temporary identities.
    case passing

    /// Returns the value of `Cache-Control`.
    func cacheControl(maximumAge: Duration) -> String {
        switch self {
        case .fresh:
            "public, max-age=\(maximumAge.components.seconds), stale-while-revalidate=30, stale-if-error=86400"
        case .stale: "public, max-age=0, stale-if-error=86400"
        case .passing: "no-store"
        }
    }
}

extension Reading {
    /// Whether what was read is fresh, complete and published.
    var freshness: Freshness { isPending || !rejected.isEmpty ? .passing : isStale ? .stale : .fresh }
}

extension FeedPage {
    /// Whether the posts and their authors are fresh.
    var freshness: Freshness {
        guard case .success(let users) = usersRead else { return .passing }
        return max(postsRead.freshness, users.freshness)
    }
}

extension UserProfile {
    /// Whether the user and the posts are fresh.
    var freshness: Freshness {
        guard case .success(let posts) = posts else { return .passing }
        return max(user.freshness, posts.freshness)
    }
}

extension Freshness: Comparable {}
