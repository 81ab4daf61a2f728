extension RawImageCodec {
    /// What the codec does wrong, if a test asks for it.
    enum Flaw: CaseIterable {
        // Pixels and sizes.
        case losesAlpha
        case multipliesAlpha
        case losesLowBits
        case shiftsRows
        case swapsColorsOfLongSides
        case reversesRowsOfLargeImages
        case wrapsLongSides
        case saysLongSidesAreDamaged
        // Headers.
        case losesOrientation
        case forgetsOrientationInHeader
        case namesAnotherFormat
        case saysAnotherSize
        case needsAllBytesForHeader
        case forgetsOrientationOfPart
        // Reductions.
        case reducesDownwards
        case reducesByTheFirstPixels
        case reducesAsAsked
        case offersReductionsAndIgnoresThem
        case losesOrientationWhenReducing
        case losesAlphaWhenReducing
        case shiftsByABlockWhenReducing
        // Damage.
        case takesWhatIsCutShort
        case saysWhatIsCutShortIsUnrecognized
        case givesWhatThereIsInAnotherSize
        case ignoresAllowedTruncation
        case takesWhatIsCutShortWhenReducing
        case ignoresAllowedTruncationWhenReducing
        case givesAnotherSizeOfWhatIsCutShortWhenReducing
        case clearsWhatIsCutShort
        case turnsWhatIsCutShort
        case readsFromTheEnd
        case blamesTheTask
        case readsAnything
        case writesAnything
        case saysNothingIsUnsupported
        // Cancellation and deadlines.
        case ignoresCancellationWhenReading
        case ignoresCancellationWhenWriting
        case ignoresCancellationWhenReducing
        case failsAsDamagedWhenCancelled
        case ignoresDeadlineWhenReading
        case ignoresDeadlineWhenWriting
        case ignoresDeadlineWhenReducing
        case failsAsCancelledAfterDeadline
        case readsHalfWhenCancelled
        case readsHalfAfterDeadline
        case reducesHalfWhenCancelled
        case reducesHalfAfterDeadline
        case writesHalfWhenCancelled
        case writesHalfAfterDeadline
        case looksAtTheDeadlineOnlyAtTheStart
        case looksForCancellationOnlyAtTheStart
        // What calls share.
        case remembersHeadersByLength
        case remembersImagesByLength
        case writesTheLastImageAgain
        case sharesPixelsWhenReading
        case sharesPixelsWhenWriting
        case sharesTheHeader
        case sharesPixelsWhileItIsSlow
        case failsWhileItIsBusy
    }

    /// What the codec is doing.
    enum Activity {
        case reading
        case reducing
        case writing
    }

    /// Whether the flaw is not to look for cancellation.
    func ignoresCancellation(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .ignoresCancellationWhenReading
        case .reducing: flaw == .ignoresCancellationWhenReducing
        case .writing: flaw == .ignoresCancellationWhenWriting
        }
    }

    /// Whether the flaw is not to look at the deadline.
    func ignoresDeadline(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .ignoresDeadlineWhenReading
        case .reducing: flaw == .ignoresDeadlineWhenReducing
        case .writing: flaw == .ignoresDeadlineWhenWriting
        }
    }

    /// Whether the flaw is to return what is done so far when the task is cancelled.
    func returnsHalfWhenCancelled(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .readsHalfWhenCancelled
        case .reducing: flaw == .reducesHalfWhenCancelled
        case .writing: flaw == .writesHalfWhenCancelled
        }
    }

    /// Whether the flaw is to return what is done so far when the deadline has passed.
    func returnsHalfAfterDeadline(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .readsHalfAfterDeadline
        case .reducing: flaw == .reducesHalfAfterDeadline
        case .writing: flaw == .writesHalfAfterDeadline
        }
    }
}
