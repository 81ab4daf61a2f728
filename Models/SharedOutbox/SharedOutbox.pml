/*
 * The shared outbox: a durable queue of HTTP writes that several instances of a service deliver from one database.
 *
 * The model has four parts: the store (records, conditional commits, leases), the upstream (idempotency keys), the
 * instances, and the environment (leases that run out, requests that arrive late). Every step of an instance is one
 * atomic action: one transaction of the store, one look at the local clock, or one exchange with the upstream. Between two
 * steps, an instance can be paused for as long as the others like, or crash.
 *
 * The number of faults is not limited. The state space is finite anyway, because the model keeps no counters:
 *
 * - A commit compares a fencing token only with the last token of the head, for equality. An instance holds at most one
 *   lease, so the number of the instance can serve as the token: it differs from the tokens of all other leases that are
 *   still remembered.
 * - A commit compares a version only with the version of a snapshot, for equality. So each instance has one bit that says
 *   whether its snapshot of the head is current. Every keep and every removal of the head clears it.
 *
 * `check` runs all searches. `README.md` describes the switches.
 */

#ifndef INSTANCES
#define INSTANCES 3
#endif
#ifndef SUBJECTS
#define SUBJECTS 1          /* 1 or 2 */
#endif
#ifndef ENTRIES
#define ENTRIES 2           /* the entries that are accepted for each subject */
#endif

#ifdef TRACE
#define trace(text, number) printf(text, number);
#else
#define trace(text, number)
#endif

#define NOBODY 255
#define NONE 0

/* ---- Time, only with -DTIMED: all durations are in ticks of one clock. ---------------------------------------------- */

#ifdef TIMED
#if INSTANCES != 2 || SUBJECTS != 1 || ENTRIES > 2
#error "With -DTIMED, use 2 instances, 1 subject, and 1 or 2 entries."
#endif
#ifndef LEASE
#define LEASE 1             /* how long a lease lasts */
#endif
#ifndef WAIT
#define WAIT 1              /* how long `postpone` extends it */
#endif
#ifndef PAUSE
#define PAUSE 1             /* the longest pause between the local check and the send */
#endif
#ifndef NETWORK
#define NETWORK 1           /* how long a request can stay in the network after its sender gave up */
#endif
#ifndef WINDOW
#define WINDOW 5            /* how long the upstream remembers a key, from its effect on */
#endif
/* RESEND_LIMIT: attempts start only while the first note of the entry is younger than this. Undefined: no limit. */
#endif

/* ---- The store ------------------------------------------------------------------------------------------------------ */

typedef Subject {
    /* The head record. It exists while the subject has pending entries. */
    bit exists;
    byte first;                 /* the number of the first pending entry */
    byte next;                  /* the number of the next entry to accept */
    byte token;                 /* the fencing token of the last lease, or NONE */
    bit isRunning;              /* the lease has not run out */
    bit isHeld;                 /* delivery stopped: the outcome of the first entry is unknown, and a person has to decide */

    /* The entry records and notes, by number. Numbers begin at 1 again when a new head is created. */
    byte entry[ENTRIES + 1];    /* which entry is stored, in acceptance order, or NONE */
    bit isNoted[ENTRIES + 1];   /* the entry may have been sent */

    /* What really happened, for the properties only. The instances never read these. */
    byte accepted;              /* how many entries were accepted */
    byte settled;               /* how many entries were settled: the first ones, in order */
    byte holder;                /* the instance that made the last lease and still works with it, or NOBODY */
    byte applied[ENTRIES + 1];  /* how often an entry took effect at the upstream */
    bit isDeadLetter[ENTRIES + 1];

    /* The upstream, by entry. */
    bit isRemembered[ENTRIES + 1];   /* the upstream has the key and its response */
    bit isInFlight[ENTRIES + 1];     /* a request whose sender gave up or crashed may still arrive, any number of times */
#ifdef STORED_REFUSALS
    bit isRefused[ENTRIES + 1];      /* the response that the upstream has stored is a refusal */
#endif
#ifdef MUTATE_TOKEN_SURVIVES
    byte lastToken;                  /* the token of a head that was removed */
#endif
#ifdef TIMED
    byte ticksLeft;                  /* ticks until the lease runs out */
    byte noteAge[ENTRIES + 1];
    byte effectAge[ENTRIES + 1];
    byte flightAge[ENTRIES + 1];
#endif
}

Subject subject[SUBJECTS];

/* ---- The instances -------------------------------------------------------------------------------------------------- */

mtype = { idle, accepting, leased, noting, checking, sending, settling, postponing, dead };

typedef Instance {
    mtype state;
    byte subject;
    byte token;                 /* the token of the lease */
    bit isCurrent;              /* the version of the snapshot is still the version of the head */
    byte number;                /* the number of the entry to deliver */
    byte next;                  /* the next number in the snapshot, or NONE if there was no head */
    byte entry;                 /* the entry that was read */
    bit mayHaveArrived;         /* the note said so before this attempt: an earlier attempt may have arrived */
    bit isRefusal;              /* the answer is a refusal */
    bit isUndone;               /* no attempt has arrived: the upstream could not do this one, and there was none before */
#ifdef TIMED
    byte pause;                 /* ticks since the local check */
#endif
}

Instance instance[INSTANCES];

bit isCalm;                     /* From now on, there are no more faults. */
#ifdef DEATHS
byte deaths;                    /* how many instances crashed and do not restart; at least one lives */
#endif

#define I instance[me]
#define H subject[I.subject]

/* `RecordCondition.isLeased`: nobody has leased the head again, and it exists. */
#define isLeased (H.exists && H.token == I.token)
/* `RecordCondition.isUnchanged`: the head has the version of the snapshot. */
#define isUnchanged (H.exists && I.isCurrent)
/* The local monotonic clock says that the lease has not run out. The local deadline is never later than that of the store,
   because it counts from before the request for the lease. */
#define isInTime (H.holder == me && H.isRunning)

/* The conditions of the commits. */
#ifdef MUTATE_ACCEPT_WITHOUT_HEAD
#define acceptHead true
#else
#define acceptHead (I.next == NONE && !H.exists || I.next != NONE && isUnchanged)
#endif
#ifdef WITHOUT_NOTE_LEASE
#define noteLease true
#else
#define noteLease isLeased
#endif
#ifdef MUTATE_SETTLE_WITHOUT_LEASE
#define settleLease (H.exists)
#else
#define settleLease isLeased
#endif
#ifdef MUTATE_SETTLE_WITHOUT_HEAD
#define settleHead (H.first == I.number)
#else
#define settleHead isUnchanged
#endif

/* The idempotency key of a request. The entry, by acceptance order, stands for the key that was stored with it. */
#ifdef MUTATE_KEY_PER_ATTEMPT
#define sentKey (I.mayHaveArrived -> NONE : I.entry)
#else
#define sentKey I.entry
#endif

#define isSettled(id) (subject[id].accepted == ENTRIES && (subject[id].settled == ENTRIES || subject[id].isHeld))
#if SUBJECTS > 1
#define allSettled (isSettled(0) && isSettled(1))
#else
#define allSettled isSettled(0)
#endif

/* ---- Properties ----------------------------------------------------------------------------------------------------- */

/* No entry is lost: the store has exactly the entries that were accepted and not settled, in order. */
inline checkNothingLost(id) {
    assert(subject[id].exists == (subject[id].settled < subject[id].accepted));
    if
    :: subject[id].exists ->
        assert(subject[id].next - subject[id].first == subject[id].accepted - subject[id].settled);
        k = subject[id].first;
        do
        :: k < subject[id].next ->
            assert(subject[id].entry[k] == subject[id].settled + 1 + k - subject[id].first);
            k++
        :: else -> break
        od
    :: else
    fi;
    k = 0
}

/* A commit under a lease takes effect only for the instance that made the last lease. */
inline checkNotFenced() {
#ifndef OUTCOMES_ONLY
    assert(H.holder == me)
#else
    skip
#endif
}

/* An effect at the upstream: at most one for each entry, in the order of acceptance, and never of a dead letter. */
inline checkEffect(id, which) {
    assert(subject[id].applied[which] == 0);         /* No entry is applied twice. */
    assert(!subject[id].isDeadLetter[which]);        /* A refusal is final only if no earlier attempt may have arrived. */
    k = 1;
    do
    :: k < which -> assert(subject[id].applied[k] == 1 || subject[id].isDeadLetter[k]); k++
    :: k > which && k <= ENTRIES -> assert(subject[id].applied[k] == 0); k++
    :: k == which -> k++
    :: else -> break
    od;
    k = 0
}

/* ---- The upstream --------------------------------------------------------------------------------------------------- */

/* A request takes effect, unless the upstream has its key: then the upstream sends the stored response. */
inline handle(id, which) {
    if
    :: subject[id].isRemembered[which] ->
        trace("  the upstream repeats its response to entry %d\n", which)
        skip
    :: else ->
        trace("  the upstream applies entry %d\n", which)
        checkEffect(id, which);
        subject[id].applied[which]++;
#ifndef IGNORES_KEYS
        subject[id].isRemembered[which] = 1;
#endif
#ifdef TIMED
        subject[id].effectAge[which] = 0
#endif
    fi
}

/* ---- Steps of the store --------------------------------------------------------------------------------------------- */

/* Every keep and every removal of the head changes its version: all snapshots become old. */
inline changeVersion(id) {
    k = 0;
    do
    :: k < INSTANCES ->
        if
        :: instance[k].subject == id -> instance[k].isCurrent = 0
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

/* The instance keeps nothing in memory. A lease that it holds runs out later. */
inline forget() {
    if
    :: H.holder == me -> H.holder = NOBODY
    :: else
    fi;
    I.subject = 0; I.token = NONE; I.isCurrent = 0; I.number = NONE; I.next = NONE; I.entry = NONE;
    I.mayHaveArrived = 0; I.isRefusal = 0; I.isUndone = 0;
#ifdef TIMED
    I.pause = 0;
#endif
    I.state = idle
}

/* Drops the knowledge about the entry, but not the lease. */
inline forgetEntry() {
    I.entry = NONE; I.mayHaveArrived = 0; I.isRefusal = 0; I.isUndone = 0;
#ifdef TIMED
    I.pause = 0
#endif
}

/* Reads the head: the version, and the next number. */
inline readHead() {
    I.isCurrent = H.exists;
    I.next = (H.exists -> H.next : NONE)
}

/* ---- Steps of an instance ------------------------------------------------------------------------------------------- */

inline beginAccept(id) {
    trace("instance %d reads the head to accept an entry\n", me + 1)
    I.subject = id;
    readHead();
    I.state = accepting
}

/* accept: one conditional commit stores the entry and the head with the next number. The instance then answers its caller.
   A crash between the commit and the answer leaves the same state, except that the caller does not know. */
inline accept() {
    if
    :: H.accepted < ENTRIES && acceptHead ->
        trace("instance %d: accept\n", me + 1)
        if
        :: I.next == NONE ->
            I.next = 1; H.first = 1;
            if
            :: !H.exists ->
                H.exists = 1; H.token = NONE; H.isRunning = 0;
#ifdef MUTATE_TOKEN_SURVIVES
                H.token = H.lastToken
#endif
            :: else                                     /* only in a mutation */
            fi
        :: else -> H.exists = 1
        fi;
        H.accepted++;
        H.entry[I.next] = H.accepted;
        H.next = I.next + 1;
        changeVersion(I.subject);
        checkNothingLost(I.subject);
        forget()
    :: H.accepted < ENTRIES && !acceptHead ->
        trace("instance %d: accept, conflict\n", me + 1)
        readHead()                                          /* conflict: read the head, and try again */
    :: H.accepted == ENTRIES -> forget()                    /* Others have accepted all entries of this run. */
    fi
}

/* Leases a head with a new token. */
inline takeLease(id) {
    I.subject = id;
#ifdef MUTATE_SAME_TOKEN
    I.token = (H.token == NONE -> me + 1 : H.token);
#else
    I.token = me + 1;
#endif
    H.token = I.token;
    H.isRunning = 1;
#ifdef TIMED
    H.ticksLeft = LEASE;
#endif
    H.holder = me;
    I.number = H.first;
    I.state = leased
}

/* claim: leases a head that was never leased. */
inline claim(id) {
    trace("instance %d: claim\n", me + 1)
    takeLease(id)
}

/* takeOver: leases a head whose last lease has run out. Its holder has postponed it, has crashed, or is slow. */
inline takeOver(id) {
    trace("instance %d: takeOver\n", me + 1)
    takeLease(id)
}

/* Reads the head, the first entry, and its note at the same moment. */
inline readEntry() {
    if
    :: H.entry[I.number] == NONE -> forget()        /* Another instance has settled it. */
    :: else ->
        readHead();
        I.entry = H.entry[I.number];
        I.mayHaveArrived = H.isNoted[I.number];
        trace("instance %d reads", me + 1)
        trace(" entry %d", I.entry)
        trace(", noted: %d\n", I.mayHaveArrived)
#if defined(MUTATE_NO_NOTE)
        I.state = checking
#elif defined(MUTATE_NOTE_ONCE)
        I.state = (I.mayHaveArrived -> checking : noting)
#else
        I.state = noting
#endif
    fi
}

/* note: commits that the entry may have arrived, before each attempt to send it. */
inline note() {
    if
    :: noteLease ->
        trace("instance %d: note\n", me + 1)
#ifndef WITHOUT_NOTE_LEASE
        checkNotFenced();
#endif
        H.isNoted[I.number] = 1;                        /* The note has the time of the first attempt, `noteAge`. */
        if
        :: I.state = checking
        :: !isCalm -> forgetEntry(); I.state = leased   /* fault: the commit succeeded, but its answer was lost */
        fi
    :: else -> forget()                                 /* fenced: nothing was changed */
    fi
}

/* The local check: the lease has not run out. The instance can be paused between this check and the send. */
inline checkTime() {
    if
#ifdef RESEND_LIMIT
    :: isInTime && H.noteAge[I.number] >= RESEND_LIMIT ->   /* The upstream may have forgotten the key: a person decides. */
        H.isHeld = 1;
        forget()
    :: isInTime && H.noteAge[I.number] < RESEND_LIMIT -> I.state = sending
    :: else -> forget()
#elif defined(WITHOUT_LOCAL_CHECK)
    :: I.state = sending
#else
    :: isInTime ->
        trace("instance %d: the local check passes\n", me + 1)
        I.state = sending
    :: else ->
        trace("instance %d: the local check fails\n", me + 1)
        forget()
#endif
    fi
}

/* send: the request arrives at the upstream, and an answer comes, or none. */
inline send() {
    trace("instance %d: send", me + 1)
    trace(" entry %d\n", I.entry)
    assert(I.entry <= H.settled + 1);           /* An entry is sent only after all earlier ones are settled. */
#ifndef OUTCOMES_ONLY
    assert(sentKey == I.entry);                 /* An entry is sent only under the key that was fixed at its acceptance. */
#endif
    if
    :: sentKey != I.entry -> H.isRemembered[I.entry] = 0    /* only in a mutation: the upstream does not know the new key */
    :: else
    fi;
#ifdef SHOW_DUPLICATE
    assert(I.entry > H.settled);                /* deliberately wrong: an entry is not sent after it was settled */
#endif
#ifdef SHOW_DUPLICATE_AFTER_NEXT
    assert(I.entry == ENTRIES || H.applied[I.entry + 1] == 0);  /* deliberately wrong: nor after the next one took effect */
#endif
    if
#ifdef STORED_REFUSALS
    :: !H.isRefused[I.entry] -> handle(I.subject, I.entry); I.state = settling
    :: !H.isRefused[I.entry] && !isCalm -> handle(I.subject, I.entry); I.state = postponing
    :: !H.isRemembered[I.entry] && (!isCalm || H.isRefused[I.entry] || !I.mayHaveArrived) ->
        H.isRefused[I.entry] = 1;
        answerRefused()
    :: !H.isRemembered[I.entry] && !isCalm -> H.isRefused[I.entry] = 1; I.state = postponing
#else
    :: handle(I.subject, I.entry); I.state = settling                       /* 2xx */
    :: !isCalm ->                                                           /* fault: the answer was lost */
        handle(I.subject, I.entry);
        trace("  instance %d gets no answer\n", me + 1)
        I.state = postponing
    :: !H.isRemembered[I.entry] && (!isCalm || !I.mayHaveArrived) ->        /* refused; for now, if it is a repeat */
        answerRefused()
#endif
#ifndef TIMED
    :: !H.isRemembered[I.entry] && !isCalm ->                               /* fault: the upstream cannot do it now */
        trace("  the upstream is not available for entry %d\n", I.entry)
#ifdef MUTATE_CLEAR_ANY_NOTE
        I.isUndone = 1;
#else
        I.isUndone = !I.mayHaveArrived;
#endif
        I.state = postponing
#endif
    :: !isCalm ->                                                           /* fault: no answer, and it may still arrive */
        trace("  instance %d gets no answer, and the request may still arrive\n", me + 1)
        H.isInFlight[I.entry] = 1;
#ifdef TIMED
        H.flightAge[I.entry] = 0;
#endif
        I.state = postponing
    fi;
#ifdef TIMED
    I.pause = 0
#endif
}

/* A refusal is final only if no earlier attempt may have arrived. */
inline answerRefused() {
    trace("  the upstream refuses entry %d\n", I.entry)
#ifdef REFUSALS_ARE_FINAL
    if
    :: true ->
#else
    if
    :: !I.mayHaveArrived ->
#endif
        I.isRefusal = 1; I.state = settling
    :: else -> I.state = postponing
    fi
}

/* settle: one commit removes the entry and its note, and updates or removes the head. */
inline settle() {
    if
    :: !settleLease ->
        trace("instance %d: settle, fenced\n", me + 1)
        forget()                                        /* fenced: nothing was changed */
    :: settleLease && !settleHead ->                    /* conflict: another instance has accepted an entry */
        if
        :: H.first == I.number -> readHead()            /* try again */
        :: else ->                                      /* An earlier commit of this settlement did succeed. */
            forgetEntry();
            I.isCurrent = 0; I.next = NONE;
            I.number = H.first;
            I.state = leased
        fi
    :: settleLease && settleHead ->
        trace("instance %d: settle", me + 1)
        trace(" entry %d\n", I.entry)
        checkNotFenced();
        assert(I.entry == H.settled + 1);               /* Entries are settled once, in order. */
        if
        :: I.isRefusal -> H.isDeadLetter[I.entry] = 1; assert(H.applied[I.entry] == 0)
        :: else -> assert(H.applied[I.entry] == 1)
        fi;
        H.settled++;
        H.entry[I.number] = NONE;
        H.isNoted[I.number] = 0;
#ifdef TIMED
        H.noteAge[I.number] = 0;
#endif
        if
        :: I.next == I.number + 1 ->
#ifdef MUTATE_TOKEN_SURVIVES
            H.lastToken = H.token;
#endif
            H.exists = 0; H.first = 0; H.next = 0; H.token = NONE; H.isRunning = 0; H.holder = NOBODY;
#ifdef TIMED
            H.ticksLeft = 0
#endif
        :: else ->
            H.first = I.number + 1;
            H.next = I.next
        fi;
        changeVersion(I.subject);
        checkNothingLost(I.subject);
        I.next = NONE;
        if
        :: !isCalm ->                                   /* fault: the commit succeeded, but its answer was lost: try again */
            trace("  the commit of instance %d succeeds, but it gets no answer\n", me + 1)
            skip
        :: H.exists ->                                  /* The lease lasts: deliver the next entry. */
            forgetEntry();
            I.number++;
            I.state = leased
        :: !H.exists -> forget()
        fi
    fi
}

/* postpone: clears the note if no attempt has arrived, extends the lease by the wait, and gives it up. When it has run out, any
   instance can claim the head. */
inline postpone() {
    if
#ifdef MUTATE_SECOND_WHILE_POSTPONED
    :: isLeased && I.number + 1 < H.next ->
        H.isRunning = 1;
        forgetEntry();
        I.number++;
        I.state = leased
#endif
    :: isLeased ->
        trace("instance %d: postpone\n", me + 1)
        checkNotFenced();
        if
        :: I.isUndone -> H.isNoted[I.number] = 0
        :: else
        fi;
        H.isRunning = 1;
#ifdef TIMED
        H.ticksLeft = WAIT;
#endif
        forget()
    :: !isLeased -> forget()
    fi
}

/* A crash, and a restart without memory. A request that is being sent may have left. */
inline crash() {
    trace("instance %d crashes\n", me + 1)
    if
    :: I.state == sending ->
        if
        :: H.isInFlight[I.entry] = 1;
#ifdef TIMED
            H.flightAge[I.entry] = 0
#endif
        :: skip
        fi
    :: else
    fi;
    forget()
}

#define isFree(id) (subject[id].exists && !subject[id].isRunning && !subject[id].isHeld)

/* ---- The processes -------------------------------------------------------------------------------------------------- */

proctype Service(byte me) {
    byte k;
    do
    :: atomic { I.state == idle && subject[0].accepted < ENTRIES -> beginAccept(0) }
    :: atomic { I.state == idle && isFree(0) && subject[0].token == NONE -> claim(0) }
    :: atomic { I.state == idle && isFree(0) && subject[0].token != NONE -> takeOver(0) }
#if SUBJECTS > 1
    :: atomic { I.state == idle && subject[1].accepted < ENTRIES -> beginAccept(1) }
    :: atomic { I.state == idle && isFree(1) && subject[1].token == NONE -> claim(1) }
    :: atomic { I.state == idle && isFree(1) && subject[1].token != NONE -> takeOver(1) }
#endif
    :: atomic { I.state == accepting -> accept() }
    :: atomic { I.state == leased -> readEntry() }
    :: atomic { I.state == noting -> note() }
    :: atomic { I.state == checking -> checkTime() }
    :: atomic { I.state == sending -> send() }
    :: atomic { I.state == settling -> settle() }
    :: atomic { I.state == postponing -> postpone() }
    :: atomic { I.state != idle && I.state != dead && !isCalm -> crash() }                          /* fault */
#ifdef DEATHS
    :: atomic { I.state == idle && !isCalm && deaths < INSTANCES - 1 -> deaths++; I.state = dead }  /* fault: no restart */
#endif
    :: atomic { (I.state == idle || I.state == dead) && allSettled -> break }
    od
}

#ifdef TIMED

inline age(id, which) {
    if
    :: subject[id].isRemembered[which] ->
        subject[id].effectAge[which]++;
        if
        :: subject[id].effectAge[which] == WINDOW -> subject[id].isRemembered[which] = 0; subject[id].effectAge[which] = 0
        :: else
        fi
    :: else
    fi;
    if
    :: subject[id].isInFlight[which] -> subject[id].flightAge[which]++
    :: else
    fi;
#ifdef RESEND_LIMIT
    if
    :: subject[id].isNoted[which] && subject[id].noteAge[which] < RESEND_LIMIT -> subject[id].noteAge[which]++
    :: else
    fi
#endif
}

/* One tick of all clocks. */
inline tick() {
    k = 0;
    do
    :: k < INSTANCES ->
        if
        :: instance[k].state == sending -> instance[k].pause++
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 1;
    do
    :: k <= ENTRIES -> age(0, k); k++
    :: else -> break
    od;
    k = 0;
    if
    :: subject[0].ticksLeft > 0 ->
        subject[0].ticksLeft--;
        subject[0].isRunning = (subject[0].ticksLeft > 0)
    :: else
    fi
}

/* No pause and no request is at its longest. */
#define mayTick \
    (instance[0].pause < PAUSE || instance[0].state != sending) && \
    (instance[INSTANCES - 1].pause < PAUSE || instance[INSTANCES - 1].state != sending) && \
    (!subject[0].isInFlight[1] || subject[0].flightAge[1] < NETWORK) && \
    (!subject[0].isInFlight[ENTRIES] || subject[0].flightAge[ENTRIES] < NETWORK)

#endif

#ifdef STORED_REFUSALS
#define canTakeEffect(id, which) (!subject[id].isRemembered[which] && !subject[id].isRefused[which])
#else
#define canTakeEffect(id, which) (!subject[id].isRemembered[which])
#endif

/* A request whose sender gave up arrives late, or never. */
inline arriveLate(id, which) {
#ifdef STORED_REFUSALS
    if
    :: handle(id, which)
    :: subject[id].isRefused[which] = 1
    fi
#else
    handle(id, which)
#endif
}

inline vanish(id, which) {
    subject[id].isInFlight[which] = 0;
#ifdef TIMED
    subject[id].flightAge[which] = 0
#endif
}

#define mayRunOut(id) (subject[id].isRunning && (!isCalm || subject[id].holder == NOBODY))

proctype Environment() {
    byte k;
end:
    do
#ifdef TIMED
    :: atomic { mayTick -> tick() }
#else
    /* A lease runs out. While an instance works with it, that is a fault: the instance is slow. */
    :: atomic { mayRunOut(0) -> trace("the lease of subject %d runs out\n", 1) subject[0].isRunning = 0 }
#if SUBJECTS > 1
    :: atomic { mayRunOut(1) -> subject[1].isRunning = 0 }
#endif
#endif
    :: atomic { subject[0].isInFlight[1] && canTakeEffect(0, 1) -> arriveLate(0, 1) }
    :: atomic { subject[0].isInFlight[1] -> vanish(0, 1) }
#if ENTRIES > 1
    :: atomic { subject[0].isInFlight[2] && canTakeEffect(0, 2) -> arriveLate(0, 2) }
    :: atomic { subject[0].isInFlight[2] -> vanish(0, 2) }
#endif
#if ENTRIES > 2
    :: atomic { subject[0].isInFlight[3] && canTakeEffect(0, 3) -> arriveLate(0, 3) }
    :: atomic { subject[0].isInFlight[3] -> vanish(0, 3) }
#endif
#if SUBJECTS > 1
    :: atomic { subject[1].isInFlight[1] && canTakeEffect(1, 1) -> arriveLate(1, 1) }
    :: atomic { subject[1].isInFlight[1] -> vanish(1, 1) }
#if ENTRIES > 1
    :: atomic { subject[1].isInFlight[2] && canTakeEffect(1, 2) -> arriveLate(1, 2) }
    :: atomic { subject[1].isInFlight[2] -> vanish(1, 2) }
#endif
#endif
#ifdef FORGETS
    /* The idempotency window of a settled entry ends, however late a duplicate is. */
    :: atomic { subject[0].settled >= 1 && subject[0].isRemembered[1] ->
        trace("the idempotency window of entry %d ends\n", 1) subject[0].isRemembered[1] = 0 }
#endif
    od
}

#ifdef CALM
/* Faults can end at any moment. Cycles before that count as progress, so each cycle without progress is one without faults. */
proctype Faults() {
progress:
    atomic { trace("no faults from now on%d\n", 0) isCalm = 1 }
}
#endif

init {
    atomic {
        byte s = 0;
        do
        :: s < SUBJECTS -> subject[s].holder = NOBODY; s++
        :: else -> break
        od;
        byte i = 0;
        do
        :: i < INSTANCES -> instance[i].state = idle; i++
        :: else -> break
        od;
        run Environment();
#ifdef CALM
        run Faults();
#endif
        i = 0;
        do
        :: i < INSTANCES -> run Service(i); i++
        :: else -> break
        od;
        i = 0; s = 0
    }
}
