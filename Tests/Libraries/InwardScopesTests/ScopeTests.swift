import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ScopeTests {
    private struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private let journal = Journal()
    private let clock = ManualClock()

    // MARK: Order

    @Test func childrenCloseBeforeTheirParentNewestFirst() async throws {
        let app = await Scope.example(journal)
        let ada = try await ExampleUser.example("ada", in: app, journal)
        _ = try await ExampleUser.example("bob", in: app, journal)
        _ = try await ExampleFeature.example("feed", in: ada, journal)
        _ = try await ExampleFeature.example("users", in: ada, journal)
        try await app.close()
        #expect(journal.entries == ["close bob", "close users", "close feed", "close ada", "close a store"])
    }

    @Test func closingInTimeLeavesNoTimer() async throws {
        let app = await Scope.example(journal, clock: clock)
        _ = try await ExampleUser.example("ada", in: app, journal)
        try await app.close()
        #expect(clock.sleeperCount == 0)
    }

    @Test func objectsCloseInReverseOrderOfCreation() async throws {
        let app = await Scope<AppLifetime, [String]>.open("example", limit: ClosingLimit(.seconds(5), on: clock)) {
            [journal] opening in
            ["first", "second", "third"].map { name in
                opening.closing(name, as: name) { journal.add($0) }
            }
        }
        try await app.close()
        #expect(journal.entries == ["third", "second", "first"])
    }

    @Test func workEndsBeforeItsObjectsClose() async throws {
        let app = await Scope.example(journal)
        let begun = Rendezvous(of: 2)
        async let work: Void = inFlight(in: app, begun: begun)
        await begun.arrive()
        try await app.close()
        await work
        #expect(journal.entries == ["work ended", "close a store"])
    }

    @Test func closingAScopeLeavesOthersOpen() async throws {
        let app = await Scope.example(journal)
        let ada = try await ExampleUser.example("ada", in: app, journal)
        let bob = try await ExampleUser.example("bob", in: app, journal)
        try await ada.close()
        #expect(journal.entries == ["close ada"])
        #expect(!ada.isOpen)
        #expect(bob.isOpen)
        #expect(app.isOpen)
        try await app.close()
        #expect(journal.entries == ["close ada", "close bob", "close a store"])
    }

    @Test func scopeWithoutObjectsToCloseClosesItsChildren() async throws {
        let app = await Scope.example(journal)
        let ada = try ExampleUser("ada", in: app, objects: "")
        let feed = try await ExampleFeature.example("feed", in: ada, journal)
        try await ada.close()
        #expect(!feed.isOpen)
        #expect(journal.entries == ["close feed"])
    }

    @Test func scopeWithoutObjectsToCloseWaitsForItsWork() async throws {
        let ada = try await ExampleUser("ada", in: Scope.example(), objects: "")
        let begun = Rendezvous(of: 2)
        async let work: Void = inFlight(in: ada, begun: begun)
        await begun.arrive()
        try await ada.close()
        #expect(journal.entries == ["work ended"])
        await work
    }

    // MARK: Closing more than once

    @Test func secondCloseWaitsForTheFirstAndThrowsTheSameError() async throws {
        let closing = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let app = await Scope.example(journal) {
            await closing.arrive()
            await goOn.arrive()
            throw Broken(description: "the disk is full")
        }
        async let first = failures(closing: app)
        await closing.arrive()
        async let second = failures(closing: app)
        // No call returns before the object is closed.
        #expect(!app.isOpen)
        #expect(journal.entries == ["close a store"])
        await goOn.arrive()
        #expect(await first == ["app example > store failed to close: the disk is full"])
        #expect(await second == ["app example > store failed to close: the disk is full"])
        #expect(await failures(closing: app) == ["app example > store failed to close: the disk is full"])
        #expect(journal.entries == ["close a store"])
    }

    @Test func concurrentClosesCloseOnce() async throws {
        let app = await Scope.example(journal)
        for name in 1...20 { _ = try await ExampleUser.example("\(name)", in: app, journal) }
        await withTaskGroup { group in
            for _ in 1...50 { group.addTask { try? await app.close() } }
        }
        #expect(journal.entries == (1...20).reversed().map { "close \($0)" } + ["close a store"])
    }

    @Test func closingContinuesAfterItsCallerIsCancelled() async throws {
        let closing = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let app = await Scope.example(journal) { [journal] in
            await closing.arrive()
            journal.add(Task.isCancelled ? "cancelled" : "not cancelled")
            await goOn.arrive()
        }
        await withTaskGroup { group in
            group.addTask { try? await app.close() }
            await closing.arrive()
            group.cancelAll()
            await goOn.arrive()
        }
        #expect(journal.entries == ["close a store", "not cancelled"])
        #expect(!app.isOpen)
    }

    // MARK: Limits and errors

    @Test func objectThatExceedsTheLimitIsCancelledAndAbandoned() async throws {
        let (cancellations, report) = AsyncStream.makeStream(of: Bool.self)
        let app = await Scope.example(journal, clock: clock)
        let ada = try await ExampleUser.example("ada", in: app, journal) {
            await Rendezvous(of: 2).arrive()
            report.yield(Task.isCancelled)
        }
        async let failures = failures(closing: ada)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await failures == ["user ada > object did not close in time"])
        #expect(await cancellations.first { _ in true } == true)
        #expect(!ada.isOpen)
        #expect(app.isOpen)
    }

    @Test func eachObjectOfASlowChildHasItsOwnLimit() async throws {
        let app = await Scope.example(journal, clock: clock) { throw Broken(description: "the disk is full") }
        let bob = try await ExampleUser.example("bob", in: app, journal) { throw Broken(description: "no network") }
        _ = try await ExampleFeature.example("feed", in: bob, journal) { await Rendezvous(of: 2).arrive() }
        async let failures = failures(closing: app)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(
            await failures == [
                "app example > user bob > feature feed > object did not close in time",
                "app example > user bob > object failed to close: no network",
                "app example > store failed to close: the disk is full",
            ]
        )
        #expect(journal.entries == ["close feed", "close bob", "close a store"])
    }

    @Test func childrenTogetherMayExceedTheLimit() async throws {
        let app = await Scope.example(journal, clock: clock)
        let goOn = (1...3).map { _ in Rendezvous(of: 2) }
        var users: [ExampleUser] = []
        for number in 0..<3 {
            users.append(try await .example("\(number)", in: app, journal) { await goOn[number].arrive() })
        }
        async let failures = failures(closing: app)
        for number in (0..<3).reversed() {
            await clock.sleepers(1)
            clock.advance(by: .seconds(4))
            await goOn[number].arrive()
            try await users[number].close()
        }
        #expect(await failures.isEmpty)
        #expect(journal.entries == ["close 2", "close 1", "close 0", "close a store"])
    }

    @Test func workThatIgnoresCancellationIsAbandoned() async throws {
        let app = await Scope.example(journal, clock: clock)
        let begun = Rendezvous(of: 2)
        let stubborn = AsyncStream<Void>.makeStream()
        async let work: Void = {
            _ = try? await app.run { _ in
                await begun.arrive()
                // A separate task does not inherit the cancellation.
                await Task { for await _ in stubborn.stream {} }.value
            }
        }()
        await begun.arrive()
        async let failures = failures(closing: app)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await failures == ["app example > work in flight did not close in time"])
        stubborn.continuation.finish()
        await work
    }

    @Test func workThatClosesItsOwnScopeIsAbandoned() async throws {
        let app = await Scope.example(journal, clock: clock)
        let seen = Journal()
        async let work: Void = {
            let error = await #expect(throws: ScopeError.self) {
                try await app.run { _ in for failure in await failures(closing: app) { seen.add(failure) } }
            }
            #expect(error?.workBegan == true && error.map { ProblemDetails($0) } == .outcomeUnknown)
        }()
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        await work
        #expect(seen.entries == ["app example > work in flight did not close in time"])
    }

    @Test func allFailuresAreCollected() async throws {
        let app = await Scope.example(journal) { throw Broken(description: "the disk is full") }
        let ada = try await ExampleUser.example("ada", in: app) { throw Broken(description: "no network") }
        _ = try await ExampleFeature.example("feed", in: ada) { throw Broken(description: "no reason") }
        let error = await #expect(throws: ScopeCloseError.self) { try await app.close() }
        #expect(
            error?.description == """
                app example > user ada > feature feed > object failed to close: no reason. \
                app example > user ada > object failed to close: no network. \
                app example > store failed to close: the disk is full.
                """
        )
        #expect(!app.isOpen)
    }

    // MARK: After the close

    @Test func usingAClosedScopeThrowsAClearError() async throws {
        let app = await Scope.example()
        let ada = try await ExampleUser.example("ada", in: app)
        try await ada.close()
        let error = #expect(throws: ScopeError.self) { try ada.objects() }
        #expect(error?.description == "user ada is closed")
        #expect(error.map { ProblemDetails($0) } == .unavailable)
        await #expect(throws: ScopeError.self) { try await ada.run { _ in journal.add("work") } }
        #expect(throws: ScopeError.self) { try ExampleFeature("feed", in: ada, objects: "") }
        try await ada.close()
        #expect(journal.entries.isEmpty)
    }

    @Test func usingAClosingScopeThrowsAClearError() async throws {
        let closing = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let app = await Scope.example(journal) {
            await closing.arrive()
            await goOn.arrive()
        }
        async let failures = failures(closing: app)
        await closing.arrive()
        #expect(throws: ScopeError.self) { try app.objects() }
        await #expect(throws: ScopeError.self) { try await app.run { _ in journal.add("work") } }
        await #expect(throws: ScopeError.self) { try await ExampleUser.example("ada", in: app, journal) }
        await goOn.arrive()
        #expect(await failures.isEmpty)
        #expect(journal.entries == ["close a store"])
    }

    @Test func objectsAreReleasedOnClose() async throws {
        final class Object: Sendable {}
        weak var own: Object?
        weak var childs: Object?
        let app = await Scope<AppLifetime, Object>.open("example", limit: ClosingLimit(.seconds(5), on: clock)) {
            opening in
            opening.closing(Object(), as: "object") { _ in }
        }
        own = try app.objects()
        let ada = try Scope<UserLifetime, Object>("ada", in: app, objects: Object())
        childs = try ada.objects()
        #expect(own != nil)
        #expect(childs != nil)
        try await app.close()
        #expect(own == nil)
        #expect(childs == nil)
        #expect(!ada.isOpen)
    }

    @Test func objectMayUseTheScopeWhileItIsReleased() async throws {
        final class Object: Sendable {
            let onRelease: @Sendable () -> Void
            init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
            deinit { onRelease() }
        }
        let app = await Scope.example()
        let ada = try await Scope<UserLifetime, Object>.open("ada", in: app) { [journal] _, scope in
            Object { [weak scope] in journal.add("open: \(scope?.isOpen ?? true)") }
        }
        try await ada.close()
        #expect(journal.entries == ["open: false"])
    }

    // MARK: Work

    @Test func workReceivesTheObjects() async throws {
        let app = await Scope.example()
        #expect(try await app.run { $0.count }.get() == 7)
        let failure = try await app.run { _ async throws(Broken) in throw Broken(description: "x") }
        guard case .failure(let error) = failure else { return #expect(Bool(false)) }
        #expect(error.description == "x")
    }

    @Test func cancelledCallerCancelsOnlyItsOwnWork() async throws {
        let app = await Scope.example(journal)
        let begun = Rendezvous(of: 2)
        await withTaskGroup { group in
            group.addTask { await inFlight(in: app, begun: begun) }
            await begun.arrive()
            group.cancelAll()
        }
        #expect(journal.entries == ["work ended"])
        #expect(app.isOpen)
        #expect(try await app.run { _ in Task.isCancelled }.get() == false)
    }

    @Test func workOfACancelledCallerIsCancelledFromItsBeginning() async throws {
        let app = await Scope.example(journal)
        let isCancelled = try await Task {
            // `unsafe`: the task is used only while the closure runs.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await app.run { _ in Task.isCancelled }.get()
        }.value
        #expect(isCancelled)
    }

    @Test func endedWorkIsReleased() async throws {
        final class Answer: Sendable {}
        weak var answer: Answer?
        let app = await Scope.example()
        do {
            let given = try await app.run { _ in Answer() }.get()
            answer = given
            #expect(answer != nil)
        }
        #expect(answer == nil)
    }

    // MARK: Opening

    @Test func failedOpeningClosesTheObjectsCreatedSoFar() async {
        let handler = RecordingErrorHandler()
        await #expect(throws: Broken.self) { try await appThatCannotBeOpened(handler) }
        #expect(journal.entries == ["second", "first"])
        #expect(handler.errors.map { "\($0)" } == ["second failed to close: the disk is full."])
    }

    private func appThatCannotBeOpened(_ handler: any ErrorHandler) async throws(Broken) {
        let journal = journal
        let limit = ClosingLimit(.seconds(5), on: clock)
        _ = try await Scope<AppLifetime, String>.open("example", limit: limit) { opening throws(Broken) in
            opening.errorHandler = handler
            _ = opening.closing("first", as: "first") { journal.add($0) }
            _ = opening.closing("second", as: "second") { name in
                journal.add(name)
                throw Broken(description: "the disk is full")
            }
            throw Broken(description: "no third")
        }
    }

    @Test func closedScopeCannotOpenAnInnerScope() async throws {
        let app = await Scope.example()
        try await app.close()
        await #expect(throws: ScopeError.self) { try await ExampleUser.example("ada", in: app, journal) }
        #expect(journal.entries.isEmpty)
    }

    @Test func failedOpeningOfAnInnerScopeClosesTheObjectsCreatedSoFar() async throws {
        let app = await Scope.example()
        await #expect(throws: ScopeError.self) { try await userThatCannotBeOpened(in: app) }
        #expect(journal.entries == ["first"])
        #expect(!app.description.contains("ada"))
    }

    @Test func descriptionSaysThatTheScopeIsClosing() async throws {
        let closing = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let app = await Scope.example {
            await closing.arrive()
            await goOn.arrive()
        }
        async let close: Void? = try? app.close()
        await closing.arrive()
        #expect(app.description.hasPrefix("app example (closing)"))
        await goOn.arrive()
        await close
    }

    private func userThatCannotBeOpened(in app: Scope<AppLifetime, String>) async throws(ScopeError) {
        let journal = journal
        _ = try await ExampleUser.open("ada", in: app) { opening, scope throws(ScopeError) in
            _ = opening.closing("first", as: "first") { journal.add($0) }
            // The scope is not open yet.
            return try scope.objects()
        }
    }

    @Test func closingWaitsForAScopeThatIsOpening() async throws {
        let opening = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let app = await Scope.example(journal, clock: clock)
        async let refusal = userThatOpensSlowly(in: app, opening, goOn)
        await opening.arrive()
        async let failures = failures(closing: app)
        await clock.sleepers(1)
        // The scope is created from the app's objects, so they must not close first.
        #expect(journal.entries.isEmpty)
        await goOn.arrive()
        #expect(await failures == ["app example > user ada > object failed to close: no network"])
        #expect(await refusal?.description == "user ada is closed")
        #expect(journal.entries == ["close ada", "close a store"])
    }

    @Test func scopeThatOpensTooSlowlyIsClosedByItsOpener() async throws {
        let opening = Rendezvous(of: 2)
        let goOn = Rendezvous(of: 2)
        let app = await Scope.example(journal, clock: clock)
        async let refusal = userThatOpensSlowly(in: app, opening, goOn)
        await opening.arrive()
        async let failures = failures(closing: app)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await failures == ["app example > user ada > work in flight did not close in time"])
        await goOn.arrive()
        #expect(await refusal?.description == "user ada is closed")
        #expect(journal.entries == ["close a store", "close ada"])
    }

    private func userThatOpensSlowly(
        in app: Scope<AppLifetime, String>,
        _ beginning: Rendezvous,
        _ goOn: Rendezvous
    ) async -> ScopeError? {
        let journal = journal
        do {
            _ = try await ExampleUser.open("ada", in: app) { opening, _ in
                await beginning.arrive()
                await goOn.arrive()
                return opening.closing("ada", as: "object") { name in
                    journal.add("close \(name)")
                    throw Broken(description: "no network")
                }
            }
            return nil
        } catch {
            return error
        }
    }

    // MARK: -

    private func failures<Level, Objects>(closing scope: Scope<Level, Objects>) async -> [String] {
        do {
            try await scope.close()
            return []
        } catch {
            return error.failures.map(\.description)
        }
    }

    /// Work that ends when it is cancelled.
    private func inFlight<Level>(in scope: Scope<Level, String>, begun: Rendezvous) async {
        _ = try? await scope.run { [journal] _ in
            await begun.arrive()
            await Rendezvous(of: 2).arrive()
            journal.add("work ended")
        }
    }
}
