import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardFetching

/// The page on which a visitor signs in and out.
///
/// The token of the sign-in is in a cookie that scripts cannot read, and that browsers do not send with forms of other sites.
struct AccountPages {
    let app: FeedApp

    func addRoutes(to router: some RouterMethods<FeedRequestContext>) {
        router.get("account") { request, context in Self.page(of: context.visitor, to: request) }
        router.post("account/sign-in") { request, context in
            let user = try await RequestContent(form: request, by: app.deadline).form().text("user")
            do {
                let token = try await app.signIn(as: user)
                // The browser forgets the earlier token.
                if case .user(let earlier, let signIn) = context.visitor { try await app.signOut(earlier, signIn) }
                return Response.seeOther("/account").setting(token, for: app.signIns.lifetime, request)
            } catch {
                let problem = ProblemDetails(reporting: error, to: context.logger)
                return Self.page(of: .guest, as: user, problem.detail, to: request).explained(by: problem)
            }
        }
        router.post("account/sign-out") { request, context in
            let form = try await RequestContent(form: request, by: app.deadline).form()
            if case .user(let user, let signIn) = context.visitor {
                try await app.signOut(user, form.text("everywhere").isEmpty ? signIn : nil)
            }
            return Response.seeOther("/account").setting("", for: .zero, request)
        }
    }

    private static func page(
        of visitor: Visitor,
        as name: String = "",
        _ reason: String? = nil,
        to request: Request
    ) -> Response {
        let content: HTML
        switch visitor {
        case .guest:
            let alert: HTML? = reason.map { "<p class=\"alert\" role=\"alert\">\($0)</p>\n" }
            content = """
                \(alert)<form class="stacked" method="post" action="/account/sign-in">
                <label for="user">User name</label>
                <input id="user" name="user" value="\(name)" required autocomplete="username" autocapitalize="none">
                <p><button>Sign in</button></p>
                </form>

                """
        case .user(let user, _):
            content = """
                <p>You are signed in as <bdi>\(user)</bdi>.</p>
                <form method="post" action="/account/sign-out">
                <button>Sign out</button>
                <button name="everywhere" value="yes">Sign out everywhere</button>
                </form>

                """
        }
        return Answer(Page("Account", in: .account, content: content)).response(to: request, cacheControl: "no-store")
    }
}

extension Response {
    /// Returns the response with the cookie that has a token.
    ///
    /// - Parameters:
    ///   - token: The token; empty to remove it from the browser.
    ///   - lifetime: How long the browser keeps it.
    ///   - request: The request.
    /// - Returns: The response with the cookie.
    fileprivate func setting(_ token: String, for lifetime: Duration, _ request: Request) -> Response {
        var response = self
        response.setCookie(
            Cookie(
                name: SignIns.cookieName,
                value: token,
                maxAge: Int(lifetime.components.seconds),
                path: "/",
                // The service itself does not use TLS. A browser that does so reaches it through a proxy, which says so.
                secure: request.headers[.xForwardedProto]?.lowercased().hasPrefix("https") == true,
                httpOnly: true,
                sameSite: .lax
            )
        )
        return response
    }
}

extension HTTPField.Name {
    /// `X-Forwarded-Proto`, with which proxies say how a client has reached them.
    // swift-format-ignore: NeverForceUnwrap
    // The text is a valid name.
    fileprivate static let xForwardedProto = Self("X-Forwarded-Proto")!
}
