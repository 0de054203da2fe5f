/* Generated from the OpenAPI document of control: npm run docs console-types */

export interface paths {
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get this document */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the scope of the token
         * @description Of a session or of a token.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in
         * @description For the console. The request has the token as every other one. The answer sets an HttpOnly cookie that stands for it, for 12 hours at most. Requests with the cookie that change something also need the header `X-Tailrace-Console`.
         */
        post: operations["createSession"];
        /**
         * Sign out
         * @description Ends the session of the cookie, in all instances, and removes the cookie. Streams that it opened end. To end all sessions of a token, revoke the token.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the types of destinations */
        get: operations["listCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a type of destination */
        get: operations["getCatalogEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sources by id
         * @description Write keys are masked for a read-only token.
         */
        get: operations["listSources"];
        put?: never;
        /**
         * Create a source
         * @description A missing id is generated, and so is a missing write key. A new write key has at least 6 characters.
         */
        post: operations["createSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a source
         * @description Write keys are masked for a read-only token.
         */
        get: operations["getSource"];
        /**
         * Replace a source
         * @description A new write key has at least 6 characters.
         */
        put: operations["replaceSource"];
        post?: never;
        /**
         * Delete a source
         * @description Without `force`, a source with connected destinations is not deleted.
         */
        delete: operations["deleteSource"];
        options?: never;
        head?: never;
        /**
         * Change fields of a source (JSON Merge Patch, RFC 7396)
         * @description A new write key has at least 6 characters.
         */
        patch: operations["updateSource"];
        trace?: never;
    };
    "/v1/sources/{id}/write-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a generated write key to a source */
        post: operations["addWriteKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/write-keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a write key from a source
         * @description Events with the key are refused from then on. The last key cannot be removed.
         */
        delete: operations["removeWriteKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/blocked-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Block track calls of an event */
        put: operations["blockEvent"];
        post?: never;
        /** Stop blocking track calls of an event */
        delete: operations["unblockEvent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/blocked-events/{event}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Block track calls of an event
         * @description As with the name in the query, except for the names `.` and `..`, which clients resolve in paths.
         */
        put: operations["blockEventInPath"];
        post?: never;
        /**
         * Stop blocking track calls of an event
         * @description As with the name in the query, except for the names `.` and `..`, which clients resolve in paths.
         */
        delete: operations["unblockEventInPath"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the destinations by id */
        get: operations["listDestinations"];
        put?: never;
        /**
         * Create a destination
         * @description A missing id is generated.
         */
        post: operations["createDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a destination */
        get: operations["getDestination"];
        /**
         * Replace a destination
         * @description A mask keeps the stored secret.
         */
        put: operations["replaceDestination"];
        post?: never;
        /**
         * Delete a destination
         * @description Its pending deliveries become dead letters.
         */
        delete: operations["deleteDestination"];
        options?: never;
        head?: never;
        /** Change fields of a destination (JSON Merge Patch, RFC 7396) */
        patch: operations["updateDestination"];
        trace?: never;
    };
    "/v1/destinations/{id}/sources/{sourceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Connect a source to a destination */
        put: operations["connectSource"];
        post?: never;
        /** Disconnect a source from a destination */
        delete: operations["disconnectSource"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a destination
         * @description Its deliveries wait until it is resumed: nothing is attempted, retry windows do not run, and nothing is lost. Attempts in flight end normally. A test event can still be sent.
         */
        post: operations["pauseDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused destination
         * @description The deliveries that waited are sent oldest first, at the pace of the receiver and within the rateLimit, beside new ones. Their retry windows begin with their next attempt. `GET /v1/destinations/{id}/recall` shows the progress.
         */
        post: operations["resumeDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a destination
         * @description Makes a new sharedSecret, and answers it: it cannot be read again. Until `previousSharedSecretUntil` requests are signed with both: `webhook-signature` contains both signatures, and `X-Signature`, which is a single one, is made with the previous secret. From then on both are made with the new one. Give receivers the new secret beside the previous one before that time.
         */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/reseal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal all secrets with the current key
         * @description Writes the destinations again whose secrets are sealed with the previous key, or not sealed. With `queries=true` also those whose URLs have a query in plain text; from then on, every change seals queries, as long as one is stored sealed. Use it when all services run this release: the release before would send the sealed text to receivers. `queries=false` writes them in plain text again.
         */
        post: operations["resealSecrets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry the pending deliveries of a destination immediately
         * @description Deliveries in the retry tiers are sent as fast as the receiver accepts them. Each keeps its step of the retry schedule. An earlier retry or drain of the destination ends.
         */
        post: operations["retryDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn the pending deliveries of a destination into dead letters
         * @description Deliveries in the retry tiers become dead letters with the reason `drained`, which can be replayed. The destination may be disabled or deleted. An earlier retry or drain of the destination ends.
         */
        post: operations["drainDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the progress of the latest retry or drain of a destination */
        get: operations["getRecall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample event to a destination
         * @description The event is sent immediately, also to a disabled destination. The answer shows request and response.
         */
        post: operations["testDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/filter/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a filter on a call
         * @description Says whether the destination would get the call, and otherwise by which rule it would not. Nothing is sent or stored. Integrations of the call and blocked events are not considered.
         */
        post: operations["testFilter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a source by name
         * @description Events of track calls of the last 90 days, and blocked events.
         */
        get: operations["listSourceEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the usage of a source by day
         * @description UTC days with routed calls, at most the last 90.
         */
        get: operations["getSourceUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries, newest first
         * @description With several filters that rarely match together, a page may have fewer items than `limit`, or none, and `next`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a delivery with its attempts */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{deliveryId}/body": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the body of a delivery
         * @description The body is read from its topic. For a read-only token all values but version, type and event are masked. The audit log has each read.
         */
        get: operations["getDeliveryBody"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events that destinations did not get, newest first
         * @description One item for each event and destination, as the router decided then; of an event, up to 100 destinations. With several filters that rarely match together, a page may have fewer items than `limit`, or none, and `next`.
         */
        get: operations["listDecisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain an event
         * @description Answers immediately if the event has deliveries or a decision of the router. Otherwise the topics are searched from `since` (default: a day ago) for up to 20 seconds.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the attempts of a destination by outcome, with latencies */
        get: operations["getDestinationStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the failures of a destination by reason, with samples */
        get: operations["getDestinationFailures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the flow of all events
         * @description The default period is the last hour; `before` is the period of the same length before it. Periods longer than 46 hours, or that began longer ago, are rounded to hours.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get what the deliveries of a destination wait for */
        get: operations["getDestinationPending"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream what is new, for open pages
         * @description Server-sent events: `hello` first, with whether events were missed since `Last-Event-ID`; `counts` each second with attempts by outcome; `config` after a change of the configuration; with `attempts=true` also `attempt` for each. A comment every 15 seconds. An instance has up to 500 streams of this and of `attempts/stream`, and up to 50 of one token; beyond these the answer is 429.
         */
        get: operations["streamLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attempts/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream attempts
         * @description A line of JSON for each attempt from now on, until the client disconnects or its token or session ends; an empty line every 15 seconds. For a client that reads too slowly attempts are dropped, and a line such as {"missed": 12} gives their number. For a read-only token the ids of users are masked.
         */
        get: operations["streamAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List dead letters, newest first
         * @description With several filters that rarely match together, a page may have fewer items than `limit`, or none, and `next`.
         */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count dead letters by destination and reason
         * @description `since` and `until` are rounded down to a minute, unless `event` or `userId` is given, or the token is limited to sources.
         */
        get: operations["summariseDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a dead letter, or the dead letters of a delivery
         * @description For a read-only token all values of the body but version, type and event are masked. Of a delivery, the newest 20 are shown. The audit log has each read.
         */
        get: operations["getDeadLetter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List replays, newest first */
        get: operations["listReplays"];
        put?: never;
        /**
         * Start a replay of dead letters
         * @description Each dead letter that matches and was not replayed before is published again, once. One replay runs at a time: a later one supersedes an earlier one. Another control instance continues the replay of one that has ended.
         */
        post: operations["startReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the progress of a replay */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        /**
         * Interrupt a replay
         * @description The replay stops after the records in flight. A replay that has ended is unchanged.
         */
        delete: operations["interruptReplay"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{deliveryId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description A delivery that was delivered, or that is dead, is sent again with the same delivery id and body, and has a new retry schedule. A dead letter then counts as replayed.
         */
        post: operations["resendDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/destinations/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay the failures of a destination since a time
         * @description Starts a replay of all dead letters of the destination since then that were not replayed. `GET /v1/replays/{id}` has its progress.
         */
        post: operations["recoverDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deletions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deletion requests, newest first
         * @description Without delivery outcomes; get a single request for those.
         */
        get: operations["listDeletions"];
        put?: never;
        /**
         * Create a deletion request
         * @description Each enabled destination of each affected source receives a webhook of type delete for each user. Calls of the users that were accepted before are not sent any more, and they leave the audiences. A request with the same requestId and content is executed once; repetitions are answered with 200.
         */
        post: operations["createDeletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deletions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a deletion request with its delivery outcomes */
        get: operations["getDeletion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deletions/{id}/lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lift a deletion
         * @description What the users did before the deletion may be sent again, for example by a replay. Nothing is brought back by this alone: deliveries that have ended stay ended, and receivers keep what they have deleted.
         */
        post: operations["liftDeletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the suppressed users by id
         * @description A read-only token, which sees no ids of users, may look up a user that it knows.
         */
        get: operations["listSuppressions"];
        put?: never;
        /**
         * Suppress users
         * @description Later calls of the users are not sent to any destination, until the suppression is lifted. Calls accepted before are not affected; for that, create a deletion request.
         */
        post: operations["createSuppressions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/suppressions/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a suppressed user */
        get: operations["getSuppression"];
        put?: never;
        post?: never;
        /**
         * Lift the suppression of a user
         * @description Later calls of the user are sent again. Those that were refused are not.
         */
        delete: operations["deleteSuppression"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/audiences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the audiences of a source */
        get: operations["listAudiences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/audiences/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an audience and its latest sync */
        get: operations["getAudience"];
        /**
         * Replace the members of an audience
         * @description The body is the whole membership: NDJSON with `{"userId": "..."}` or a JSON string on each line, or CSV with a column userId or a single column; optionally with Content-Encoding gzip. The whole body is validated before anything is sent. Then one identify call is sent for each user who joins (the trait is true) or leaves (false). If the sync is interrupted, the same request sends the rest.
         */
        put: operations["syncAudience"];
        post?: never;
        /**
         * Delete an audience
         * @description Starts a sync in which every member leaves; the audience is deleted when the sync is done. If the sync is interrupted, the same request continues it.
         */
        delete: operations["deleteAudience"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tokens by id
         * @description Without those of TAILRACE_API_TOKEN and TAILRACE_API_READ_TOKEN, which are settings.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create a token
         * @description The answer has the token, which is not stored and cannot be shown again. With `sources` or `destinations` it reaches only these, and the deliveries that belong to them. Without `expiresAt` and `expiresIn` it does not expire.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a token */
        get: operations["getToken"];
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description In effect in all instances within two seconds. Streams that it opened end.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log, newest first
         * @description Changes, reads of bodies and refused requests of the last 90 days, over the API and by commands on Kafka. A page may have fewer entries than `limit`, or none, and a `next`: a request reads up to 17,500 records.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AddWriteKeyAnswer: {
            writeKey: string;
        };
        Attempt: {
            /** @description 1 for the first */
            attempt: number;
            /**
             * Format: date-time
             * @description when the attempt began: ISO 8601, UTC
             */
            startedAt: string;
            /** @description until the last response of its URLs */
            latencyMs: number;
            /** @enum {unknown} */
            outcome: "delivered" | "retry" | "dead";
            /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
            reason?: string;
            /**
             * Format: date-time
             * @description when the next attempt was due: ISO 8601, UTC
             */
            nextDueAt?: string;
            /** @description the result of each attempted URL */
            urls: {
                /** @description without its query */
                url: string;
                /** @description the HTTP status */
                status?: number;
                /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
                reason?: string;
                /** @description the network or TLS error */
                detail?: string;
                latencyMs: number;
            }[];
        };
        AttemptCounts: {
            attempts: number;
            delivered: number;
            retry: number;
            dead: number;
            /** @description of attempts with any outcome */
            latencyMs: {
                /** @description in milliseconds, within 2.5 % */
                p50?: number;
                /** @description in milliseconds, within 2.5 % */
                p95?: number;
                /** @description in milliseconds, within 2.5 % */
                p99?: number;
            };
        };
        Audience: {
            name: string;
            /** @description the name in snake_case: the trait of the identify calls */
            trait: string;
            /** @description current members, according to the progress of the sync */
            members: number;
            /** @description the latest sync */
            sync: {
                id: string;
                /** @enum {unknown} */
                kind: "replace" | "delete";
                /** @enum {unknown} */
                state: "running" | "done" | "failed" | "interrupted";
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC with milliseconds
                 */
                startedAt: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC with milliseconds
                 */
                updatedAt: string;
                /** @description lines of the upload */
                read: number;
                /** @description distinct users in the upload */
                members: number;
                /** @description users who join; set once the upload has been compared with the members */
                added?: number;
                /** @description users who leave; set together with `added` */
                removed?: number;
                /** @description identify calls to send: `added` plus `removed` */
                total?: number;
                /** @description identify calls sent */
                sent: number;
                /** @description changes that were not made, because the user is suppressed or was deleted after the sync began */
                refused?: number;
                /** @description why the sync failed or was interrupted, and how to continue */
                problem?: {
                    code: string;
                    message: string;
                };
            };
        };
        AudienceList: {
            items: components["schemas"]["Audience"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        AudienceSync: {
            id: string;
            /** @enum {unknown} */
            kind: "replace" | "delete";
            /** @enum {unknown} */
            state: "running" | "done" | "failed" | "interrupted";
            /**
             * Format: date-time
             * @description ISO 8601, UTC with milliseconds
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC with milliseconds
             */
            updatedAt: string;
            /** @description lines of the upload */
            read: number;
            /** @description distinct users in the upload */
            members: number;
            /** @description users who join; set once the upload has been compared with the members */
            added?: number;
            /** @description users who leave; set together with `added` */
            removed?: number;
            /** @description identify calls to send: `added` plus `removed` */
            total?: number;
            /** @description identify calls sent */
            sent: number;
            /** @description changes that were not made, because the user is suppressed or was deleted after the sync began */
            refused?: number;
            /** @description why the sync failed or was interrupted, and how to continue */
            problem?: {
                code: string;
                message: string;
            };
        };
        AuditEntry: {
            id: string;
            /** Format: date-time */
            at: string;
            /** @description for example destination.update */
            action: string;
            /** @description for example destination/crm */
            target?: string;
            /** @enum {unknown} */
            outcome: "done" | "refused";
            /** @description the code of the error of a refused request */
            code?: string;
            actor: {
                /**
                 * @description setting: a token of the environment; user: of a command on Kafka; service: control itself
                 * @enum {unknown}
                 */
                kind: "token" | "setting" | "user" | "service" | "unknown";
                /** @description the name of the token or setting, or user@host */
                name: string;
                tokenId?: string;
                /** @description the first 8 hex digits of the token's SHA-256, also of a wrong token */
                fingerprint?: string;
            };
            /** @description the IP address of the client */
            address?: string;
            /** @description the fields that changed, without secrets */
            changes: {
                field: string;
                before?: unknown;
                after?: unknown;
            }[];
            /** @description changes beyond the first 50 */
            moreChanges?: number;
            /** @description refused requests before this one that were not recorded */
            notRecorded?: number;
        };
        AuditEntryList: {
            items: components["schemas"]["AuditEntry"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        BacklogStep: {
            /**
             * Format: date-time
             * @description the start of the step
             */
            at: string;
            /** @description pending at its end */
            deliveries: number;
        };
        CatalogEntry: {
            /** @description the `type` of such destinations */
            type: string;
            /** @description its key in the integrations of a call */
            name: string;
            description: string;
            supportedCalls: string[];
            /** @description whether calls with a timestamp in the past, as of an import, keep their time at the receiver */
            acceptsHistoricalTimestamps: boolean;
            /** @description JSON Schema of the settings */
            settings: {
                [key: string]: unknown;
            };
        };
        CatalogEntryList: {
            items: components["schemas"]["CatalogEntry"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        CreateSuppressionsAnswer: {
            /** @description distinct users in the request */
            users: number;
            /** @description of these, users who were not suppressed before */
            added: number;
        };
        /** @description an object with userIds */
        CreateSuppressionsInput: {
            /** @description a list of 1 to 1,000 user ids */
            userIds: string[];
        };
        CreatedToken: {
            id: string;
            name: string;
            /**
             * @description read, write or admin
             * @enum {unknown}
             */
            scope: "read" | "write" | "admin";
            /** @description the sources that it reaches */
            sources?: string[];
            /** @description the destinations that it reaches */
            destinations?: string[];
            /** Format: date-time */
            createdAt: string;
            /** @description the name of the token that created it */
            createdBy: string;
            /** Format: date-time */
            expiresAt?: string;
            expired: boolean;
            /** @description the bearer token, shown once */
            token: string;
        };
        DeadLetter: {
            /** @description `<partition>-<offset>` of the record */
            ref: string;
            /** Format: date-time */
            diedAt: string;
            reason?: string;
            /** @description whether it was replayed; a delivery that failed again has another dead letter */
            replayed: boolean;
            deliveryId?: string;
            eventId?: string;
            sourceId?: string;
            destinationId?: string;
            type?: string;
            /** @description the name of a track call's event */
            event?: string;
            /** @description the userId, else the anonymousId; masked for a read-only token */
            userKey?: string;
            attempts: number;
        };
        DeadLetterList: {
            items: components["schemas"]["DeadLetter"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        Deletion: {
            id: string;
            /** @enum {unknown} */
            state: "sending" | "sent";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description distinct users in the request */
            users: number;
            /**
             * Format: date-time
             * @description when the deletion was lifted; absent while it is in force
             */
            liftedAt?: string;
            /** @description requested sources that get no delete events */
            unaffected: {
                sourceId: string;
                /** @enum {unknown} */
                reason: "disabled" | "no-destination";
            }[];
            sources: {
                sourceId: string;
                /** @description the destinations that were enabled when the request was created */
                destinations: string[];
                /** @description users for whom a delete event was written to this source */
                sent: number;
                /** @description deliveries that succeeded; this and the next two are absent while the history is unavailable */
                delivered?: number;
                /** @description deliveries that are dead letters */
                dead?: number;
                /** @description deliveries that are pending, or whose outcome the history does not know */
                waiting?: number;
            }[];
        };
        /** @description a deletion request: an object with userIds */
        DeletionInput: {
            /** @description 1 to 100 letters, digits, dots, dashes, underscores and tildes */
            requestId?: string;
            /** @description a list of 1 to 1,000 user ids */
            userIds: string[];
            /** @description a list of 1 to 1,000 source ids; by default all sources */
            sources?: string[];
        };
        DeletionSummary: {
            id: string;
            /** @enum {unknown} */
            state: "sending" | "sent";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description distinct users in the request */
            users: number;
            /**
             * Format: date-time
             * @description when the deletion was lifted; absent while it is in force
             */
            liftedAt?: string;
            /** @description requested sources that get no delete events */
            unaffected: {
                sourceId: string;
                /** @enum {unknown} */
                reason: "disabled" | "no-destination";
            }[];
            sources: {
                sourceId: string;
                /** @description the destinations that were enabled when the request was created */
                destinations: string[];
                /** @description users for whom a delete event was written to this source */
                sent: number;
            }[];
        };
        DeletionSummaryList: {
            items: components["schemas"]["DeletionSummary"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        Delivery: {
            deliveryId: string;
            /** @description the messageId of the call */
            eventId: string;
            sourceId: string;
            destinationId: string;
            /** @description the type of the call, or delete */
            type: string;
            /** @description the name of a track call's event */
            event?: string;
            /** @description the userId, else the anonymousId; masked for a read-only token */
            userKey: string;
            /**
             * @description waiting (not attempted yet), retrying (pending after an attempt), delivered, dead, or unknown (sent or given up; the record of its last attempt was lost)
             * @enum {unknown}
             */
            status: "waiting" | "retrying" | "delivered" | "dead" | "unknown";
            /**
             * Format: date-time
             * @description the earliest known record: ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description when the status began: ISO 8601, UTC
             */
            changedAt?: string;
            /** @description number of known attempts */
            attempts: number;
            /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
            reason?: string;
            /**
             * Format: date-time
             * @description when the next attempt is due: ISO 8601, UTC
             */
            nextDueAt?: string;
        };
        DeliveryList: {
            items: components["schemas"]["Delivery"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        DeliveryWithAttempts: {
            deliveryId: string;
            /** @description the messageId of the call */
            eventId: string;
            sourceId: string;
            destinationId: string;
            /** @description the type of the call, or delete */
            type: string;
            /** @description the name of a track call's event */
            event?: string;
            /** @description the userId, else the anonymousId; masked for a read-only token */
            userKey: string;
            /**
             * @description waiting (not attempted yet), retrying (pending after an attempt), delivered, dead, or unknown (sent or given up; the record of its last attempt was lost)
             * @enum {unknown}
             */
            status: "waiting" | "retrying" | "delivered" | "dead" | "unknown";
            /**
             * Format: date-time
             * @description the earliest known record: ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description when the status began: ISO 8601, UTC
             */
            changedAt?: string;
            /** @description number of known attempts */
            attempts: number;
            /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
            reason?: string;
            /**
             * Format: date-time
             * @description when the next attempt is due: ISO 8601, UTC
             */
            nextDueAt?: string;
            /** @description its attempts, oldest first */
            history: components["schemas"]["Attempt"][];
        };
        /** @description a destination with a mask for each secret */
        Destination: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id: string;
            /**
             * @description Webhooks
             * @enum {string}
             */
            type: "Webhooks";
            /** @description a text of 1 to 200 characters */
            name?: string;
            /**
             * @description true or false
             * @default true
             */
            enabled: boolean;
            /** @description true or false */
            paused?: boolean;
            /** @description a list of ids of sources */
            sources: string[];
            /** @description a whole number of requests a second, from 1 to 1000000 */
            rateLimit?: number;
            /**
             * @description none or user
             * @enum {unknown}
             */
            ordering?: "none" | "user";
            filter?: components["schemas"]["Filter"];
            settings: components["schemas"]["WebhooksSettings"];
        };
        /** @description a destination; id and sources are optional */
        DestinationInput: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id?: string;
            /**
             * @description Webhooks
             * @enum {string}
             */
            type: "Webhooks";
            /** @description a text of 1 to 200 characters */
            name?: string;
            /** @description true or false; default: true */
            enabled?: boolean;
            /** @description true or false */
            paused?: boolean;
            /** @description a list of ids of sources */
            sources?: string[];
            /** @description a whole number of requests a second, from 1 to 1000000 */
            rateLimit?: number;
            /**
             * @description none or user
             * @enum {unknown}
             */
            ordering?: "none" | "user";
            filter?: components["schemas"]["Filter"];
            settings: components["schemas"]["WebhooksSettings"];
        };
        DestinationList: {
            items: components["schemas"]["Destination"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        /** @description the fields to change; null removes a field */
        DestinationPatch: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id?: string;
            /**
             * @description Webhooks
             * @enum {string}
             */
            type?: "Webhooks";
            /** @description a text of 1 to 200 characters */
            name?: string | null;
            /** @description true or false; default: true */
            enabled?: boolean | null;
            /** @description true or false */
            paused?: boolean | null;
            /** @description a list of ids of sources */
            sources?: string[];
            /** @description a whole number of requests a second, from 1 to 1000000 */
            rateLimit?: number | null;
            /** @description none or user */
            ordering?: ("none" | "user") | null;
            /** @description a mapping with types, events and condition */
            filter?: components["schemas"]["FilterPatch"] | null;
            settings?: components["schemas"]["WebhooksSettingsPatch"];
        };
        DestinationPending: {
            items: components["schemas"]["PendingDeliveries"][];
            total: number;
            /**
             * Format: date-time
             * @description since when the circuit breaker is open, as the latest attempt reported
             */
            openSince?: string;
            /**
             * Format: date-time
             * @description when the oldest of them was made
             */
            oldestAt?: string;
            /**
             * Format: date-time
             * @description when the first of the newest deliveries is attempted again; with the reason circuit-open: when the receiver is probed
             */
            nextDueAt?: string;
            /** @description why this delivery waits */
            reason?: string;
        };
        /** @description a destination; a mask keeps the stored secret */
        DestinationReplacement: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id?: string;
            /**
             * @description Webhooks
             * @enum {string}
             */
            type: "Webhooks";
            /** @description a text of 1 to 200 characters */
            name?: string;
            /** @description true or false; default: true */
            enabled?: boolean;
            /** @description true or false */
            paused?: boolean;
            /** @description a list of ids of sources */
            sources: string[];
            /** @description a whole number of requests a second, from 1 to 1000000 */
            rateLimit?: number;
            /**
             * @description none or user
             * @enum {unknown}
             */
            ordering?: "none" | "user";
            filter?: components["schemas"]["Filter"];
            settings: components["schemas"]["WebhooksSettings"];
        };
        /** @description OpenAPI 3.1 */
        Document: {
            [key: string]: unknown;
        };
        Error: {
            /**
             * @description a code of the error reference
             * @enum {unknown}
             */
            code: "malformed-request" | "request-timeout" | "malformed-json" | "invalid-call" | "call-too-large" | "batch-too-large" | "unknown-write-key" | "rate-limited" | "too-many-requests" | "too-many-at-once" | "unknown-source" | "not-found" | "expired" | "invalid-request" | "unauthorized" | "forbidden" | "method-not-allowed" | "conflict" | "too-many-suppressions" | "idempotency-key-reused" | "precondition-failed" | "body-too-large" | "unsupported-media-type" | "control-unavailable" | "unsupported-encoding" | "overloaded" | "kafka-unavailable" | "config-needs-newer-release" | "transactions-unavailable" | "kafka-refused-credentials" | "kafka-refused-clock" | "kafka-refused-commits" | "kafka-permission-missing" | "kafka-token-unavailable" | "topic-missing" | "unreadable-batch" | "partition-missing" | "unequal-partitions" | "too-few-brokers" | "unknown-schema" | "schema-mismatch" | "registry-unavailable" | "incompatible-schema" | "record-too-large" | "internal-error" | "invalid-settings" | "invalid-configuration" | "invalid-export" | "secret-locked" | "secret-key-missing" | "invalid-membership" | "local-start-failed" | "history-unavailable" | "took-too-long" | "superseded" | "shutting-down";
            /** @description what is wrong, and how to fix it */
            message: string;
            /** @description every invalid field */
            problems?: {
                /** @description the field, for example settings.webhooks[0].url */
                field: string;
                /** @description the rule that the field breaks */
                rule: string;
            }[];
        };
        EventTrace: {
            eventId: string;
            /**
             * @description routed: it has deliveries; rejected: it is invalid; filtered: the router filtered it for all connected destinations; no-destination: none was connected to its source; not-routed: accepted, and the router has not finished it; not-recorded: read by the router, whose decision is not known; not-searched: not found, but not all could be searched; unknown: not found
             * @enum {unknown}
             */
            outcome: "routed" | "rejected" | "filtered" | "no-destination" | "not-routed" | "not-recorded" | "not-searched" | "unknown";
            /** @description the outcome in sentences */
            explanation: string;
            deliveries: {
                deliveryId: string;
                /** @description the messageId of the call */
                eventId: string;
                sourceId: string;
                destinationId: string;
                /** @description the type of the call, or delete */
                type: string;
                /** @description the name of a track call's event */
                event?: string;
                /** @description the userId, else the anonymousId; masked for a read-only token */
                userKey: string;
                /**
                 * @description waiting (not attempted yet), retrying (pending after an attempt), delivered, dead, or unknown (sent or given up; the record of its last attempt was lost)
                 * @enum {unknown}
                 */
                status: "waiting" | "retrying" | "delivered" | "dead" | "unknown";
                /**
                 * Format: date-time
                 * @description the earliest known record: ISO 8601, UTC
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description when the status began: ISO 8601, UTC
                 */
                changedAt?: string;
                /** @description number of known attempts */
                attempts: number;
                /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
                reason?: string;
                /**
                 * Format: date-time
                 * @description when the next attempt is due: ISO 8601, UTC
                 */
                nextDueAt?: string;
            }[];
            /** @description why connected destinations did not get it, oldest first; empty where each of them has a delivery */
            decisions: {
                /** Format: date-time */
                decidedAt: string;
                sourceId: string;
                type: string;
                /** @description destinations that it was sent to */
                routed: number;
                filtered: {
                    /** @description disabled, integrations, schema, filter, suppressed; a later version may add others */
                    reason: string;
                    /** @description the rule of the destinations' filters, as it was then */
                    rule?: {
                        path: string;
                        text: string;
                    };
                    /** @description number of destinations */
                    count: number;
                    /** @description the first of their ids */
                    destinations: string[];
                }[];
            }[];
            rejections: {
                code: string;
                /** @description what is wrong, and how to fix it */
                message: string;
                /** Format: date-time */
                rejectedAt: string;
            }[];
            /** @description the call in the topic events; only for an event without deliveries and decisions */
            accepted?: {
                partition: number;
                offset: number;
                /** Format: date-time */
                acceptedAt: string;
                sourceId?: string;
                type?: string;
                event?: string;
            };
            /** @description the searched period; only for an event without deliveries and decisions */
            searched?: {
                /** Format: date-time */
                since: string;
                /** @description false if the search timed out */
                complete: boolean;
            };
            /** @description records that the history has not read yet, which may include deliveries of the event */
            behind: number;
        };
        /**
         * @description a mapping with types, events and condition
         * @example {
         *       "types": [
         *         "track"
         *       ],
         *       "events": {
         *         "include": [
         *           "Order *"
         *         ]
         *       },
         *       "condition": {
         *         "all": [
         *           {
         *             "field": "properties.total",
         *             "atLeast": 100
         *           },
         *           {
         *             "not": {
         *               "field": "userId",
         *               "equals": "test"
         *             }
         *           }
         *         ]
         *       }
         *     }
         */
        Filter: {
            /** @description a list of call types; delete is always delivered */
            types?: ("track" | "identify" | "page" | "screen" | "group" | "alias")[];
            /** @description a mapping with include and exclude */
            events?: {
                /** @description a list of 1 to 100 event names */
                include?: string[];
                /** @description a list of 1 to 100 event names */
                exclude?: string[];
            };
            condition?: components["schemas"]["FilterCondition"];
        };
        /** @description a condition: a mapping with field and one operator, or with all, any or not */
        FilterCondition: {
            /** @description a list of conditions, all of which must hold */
            all?: {
                [key: string]: unknown;
            }[];
            /** @description a list of conditions, one of which must hold */
            any?: {
                [key: string]: unknown;
            }[];
            /** @description a condition, of the same form as this one */
            not?: {
                [key: string]: unknown;
            };
            /** @description a path in the webhook body of 1 to 200 characters, such as properties.total */
            field?: string;
            /** @description a text of up to 500 characters, a number within ±(2^53 − 1), true, false or null */
            equals?: string | number | boolean | null;
            /** @description a list of 1 to 100 texts, numbers, true, false or null */
            oneOf?: (string | number | boolean | null)[];
            /** @description true or false */
            exists?: boolean;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            lessThan?: string | number;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            atMost?: string | number;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            greaterThan?: string | number;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            atLeast?: string | number;
        };
        /** @description a condition: a mapping with field and one operator, or with all, any or not */
        FilterConditionPatch: {
            /** @description a list of conditions, all of which must hold */
            all?: {
                [key: string]: unknown;
            }[] | null;
            /** @description a list of conditions, one of which must hold */
            any?: {
                [key: string]: unknown;
            }[] | null;
            /** @description a condition, of the same form as this one */
            not?: {
                [key: string]: unknown;
            } | null;
            /** @description a path in the webhook body of 1 to 200 characters, such as properties.total */
            field?: string | null;
            /** @description a text of up to 500 characters, a number within ±(2^53 − 1), true, false or null */
            equals?: (string | number | boolean | null) | null;
            /** @description a list of 1 to 100 texts, numbers, true, false or null */
            oneOf?: (string | number | boolean | null)[] | null;
            /** @description true or false */
            exists?: boolean | null;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            lessThan?: (string | number) | null;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            atMost?: (string | number) | null;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            greaterThan?: (string | number) | null;
            /** @description a number within ±(2^53 − 1), or a text of up to 500 characters */
            atLeast?: (string | number) | null;
        };
        /**
         * @description a mapping with types, events and condition
         * @example {
         *       "types": [
         *         "track"
         *       ],
         *       "events": {
         *         "include": [
         *           "Order *"
         *         ]
         *       },
         *       "condition": {
         *         "all": [
         *           {
         *             "field": "properties.total",
         *             "atLeast": 100
         *           },
         *           {
         *             "not": {
         *               "field": "userId",
         *               "equals": "test"
         *             }
         *           }
         *         ]
         *       }
         *     }
         */
        FilterPatch: {
            /** @description a list of call types; delete is always delivered */
            types?: ("track" | "identify" | "page" | "screen" | "group" | "alias")[] | null;
            /** @description a mapping with include and exclude */
            events?: {
                /** @description a list of 1 to 100 event names */
                include?: string[] | null;
                /** @description a list of 1 to 100 event names */
                exclude?: string[] | null;
            } | null;
            /** @description a condition: a mapping with field and one operator, or with all, any or not */
            condition?: components["schemas"]["FilterConditionPatch"] | null;
        };
        /**
         * @description all fields are optional
         * @example {
         *       "filter": {
         *         "condition": {
         *           "field": "properties.total",
         *           "atLeast": 100
         *         }
         *       },
         *       "call": {
         *         "type": "track",
         *         "userId": "ada",
         *         "event": "Order Completed",
         *         "properties": {
         *           "total": 25.5
         *         }
         *       }
         *     }
         */
        FilterTest: {
            /** @description the filter to try; by default that of the destination */
            filter?: components["schemas"]["Filter"];
            /** @description a tracking call with its type; by default a sample */
            call?: {
                [key: string]: unknown;
            };
            /**
             * @description the type of the sample (default: track)
             * @enum {unknown}
             */
            type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
        };
        FilterTestResult: {
            /** @description whether the destination would get the call */
            passes: boolean;
            /** @description the first rule that the call does not meet */
            rule?: {
                /** @description its path in the filter, for example condition.all[1] */
                path: string;
                /** @description the rule in words */
                text: string;
            };
            /** @description the webhook body, to which the conditions apply */
            body: string;
        };
        FilteredEvent: {
            /** @description the messageId of the call */
            eventId: string;
            /**
             * Format: date-time
             * @description when the router decided
             */
            decidedAt: string;
            sourceId: string;
            /** @description the destination that did not get it; absent with no-destination */
            destinationId?: string;
            /** @description the type of the call */
            type: string;
            /** @description the name of a track call's event */
            event?: string;
            /** @description the userId, else the anonymousId; masked for a read-only token */
            userKey: string;
            /** @description a later version may add others */
            reason: string;
            /** @description the rule of the destinations' filters, as it was then */
            rule?: {
                path: string;
                text: string;
            };
        };
        FilteredEventList: {
            items: components["schemas"]["FilteredEvent"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        /** @description deliveries count in the period in which they were made, with their current status */
        Flow: {
            /** @description events that the router has read */
            received: number;
            /** @description of them, those that the schema of their source blocks */
            blocked: number;
            /** @description of them, those whose source is connected to no destination */
            unconnected: number;
            /** @description deliveries, not attempted yet */
            waiting: number;
            retrying: number;
            delivered: number;
            dead: number;
            /** @description sent or given up; the record of their last attempt was lost */
            unknown: number;
            /** @description why connected destinations did not get events, once for each destination */
            filtered: components["schemas"]["ReasonCount"][];
            /** @description why deliveries are dead */
            deadReasons: components["schemas"]["ReasonCount"][];
            attempts: components["schemas"]["AttemptCounts"];
        };
        FlowStep: {
            /**
             * Format: date-time
             * @description the start of the step
             */
            at: string;
            /** @description events that the router has read */
            received: number;
            /** @description of them, those that the schema of their source blocks */
            blocked: number;
            /** @description of them, those whose source is connected to no destination */
            unconnected: number;
            /** @description deliveries, not attempted yet */
            waiting: number;
            retrying: number;
            delivered: number;
            dead: number;
            /** @description sent or given up; the record of their last attempt was lost */
            unknown: number;
            attempts: components["schemas"]["AttemptCounts"];
        };
        GetDeadLetterAnswer: {
            /** @description oldest first */
            items: {
                /** @description `<partition>-<offset>` of the record */
                ref: string;
                /** Format: date-time */
                diedAt: string;
                reason?: string;
                /** @description whether it was replayed; a delivery that failed again has another dead letter */
                replayed: boolean;
                deliveryId?: string;
                eventId?: string;
                sourceId?: string;
                destinationId?: string;
                type?: string;
                /** @description the name of a track call's event */
                event?: string;
                /** @description the userId, else the anonymousId; masked for a read-only token */
                userKey?: string;
                attempts: number;
                /** @description the last answer of each URL */
                lastAnswer?: unknown;
                masked: boolean;
                body: unknown;
                text?: string;
            }[];
        };
        GetDeliveryBodyAnswer: {
            deliveryId: string;
            /** @description whether the values are masked */
            masked: boolean;
            body: unknown;
            /** @description the exact text that is signed and sent */
            text?: string;
        };
        GetDestinationFailuresAnswer: {
            items: {
                reason: string;
                /** @description attempts with this reason */
                count: number;
                /** @description dead deliveries with this reason */
                dead: number;
                /** Format: date-time */
                firstAt: string;
                /** Format: date-time */
                lastAt: string;
                /** @description the newest five attempts */
                samples: {
                    deliveryId: string;
                    /** @description 1 for the first */
                    attempt: number;
                    /**
                     * Format: date-time
                     * @description when the attempt began: ISO 8601, UTC
                     */
                    startedAt: string;
                    /** @description until the last response of its URLs */
                    latencyMs: number;
                    /** @enum {unknown} */
                    outcome: "delivered" | "retry" | "dead";
                    /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
                    reason?: string;
                    /**
                     * Format: date-time
                     * @description when the next attempt was due: ISO 8601, UTC
                     */
                    nextDueAt?: string;
                    /** @description the result of each attempted URL */
                    urls: {
                        /** @description without its query */
                        url: string;
                        /** @description the HTTP status */
                        status?: number;
                        /** @description why the delivery is not delivered, such as timeout; paused: it waits until its destination is resumed */
                        reason?: string;
                        /** @description the network or TLS error */
                        detail?: string;
                        latencyMs: number;
                    }[];
                }[];
            }[];
        };
        GetDestinationStatsAnswer: {
            destinationId: string;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            step: string;
            total: {
                attempts: number;
                delivered: number;
                retry: number;
                dead: number;
                /** @description of attempts with any outcome */
                latencyMs: {
                    /** @description in milliseconds, within 2.5 % */
                    p50?: number;
                    /** @description in milliseconds, within 2.5 % */
                    p95?: number;
                    /** @description in milliseconds, within 2.5 % */
                    p99?: number;
                };
            };
            /** @description the steps with attempts, in order */
            items: {
                /**
                 * Format: date-time
                 * @description the start of the step
                 */
                at: string;
                attempts: number;
                delivered: number;
                retry: number;
                dead: number;
                /** @description of attempts with any outcome */
                latencyMs: {
                    /** @description in milliseconds, within 2.5 % */
                    p50?: number;
                    /** @description in milliseconds, within 2.5 % */
                    p95?: number;
                    /** @description in milliseconds, within 2.5 % */
                    p99?: number;
                };
            }[];
            /** @description all steps of the period, in order */
            backlog: components["schemas"]["BacklogStep"][];
        };
        GetSourceUsageAnswer: {
            items: components["schemas"]["UsageDay"][];
        };
        GetSuppressionAnswer: {
            userId: string;
            /** Format: date-time */
            since: string;
        };
        LiftDeletionAnswer: {
            id: string;
            /** @enum {unknown} */
            state: "sending" | "sent";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description distinct users in the request */
            users: number;
            /**
             * Format: date-time
             * @description when the deletion was lifted; absent while it is in force
             */
            liftedAt?: string;
            /** @description requested sources that get no delete events */
            unaffected: {
                sourceId: string;
                /** @enum {unknown} */
                reason: "disabled" | "no-destination";
            }[];
            sources: {
                sourceId: string;
                /** @description the destinations that were enabled when the request was created */
                destinations: string[];
                /** @description users for whom a delete event was written to this source */
                sent: number;
                /** @description deliveries that succeeded; this and the next two are absent while the history is unavailable */
                delivered?: number;
                /** @description deliveries that are dead letters */
                dead?: number;
                /** @description deliveries that are pending, or whose outcome the history does not know */
                waiting?: number;
            }[];
        };
        ListSourceEventsAnswer: {
            items: components["schemas"]["SourceEvent"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
            /** @description calls whose events are not listed by name, because their names have more than 200 characters or their source had sent 500 other names that day; on the last page */
            other?: {
                count: number;
                filtered: number;
                /** Format: date-time */
                firstSeenAt: string;
                /** Format: date-time */
                lastSeenAt: string;
            };
        };
        ListSuppressionsAnswer: {
            items: {
                userId: string;
                /** Format: date-time */
                since: string;
            }[];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        OpenBreaker: {
            destinationId: string;
            deliveries: number;
            /**
             * Format: date-time
             * @description since when the circuit breaker is open, as the latest attempt reported
             */
            openSince?: string;
        };
        Overview: {
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            step: string;
            total: components["schemas"]["Flow"];
            before: components["schemas"]["Flow"];
            /** @description all steps of the period, in order */
            items: components["schemas"]["FlowStep"][];
            pending: components["schemas"]["PendingDeliveries"][];
            /** @description dead letters that were not replayed, of any age */
            deadLetters: number;
            /** @description destinations whose deliveries wait for an open circuit breaker, at most 20 */
            breakers: components["schemas"]["OpenBreaker"][];
            /** @description records that the history has not read yet */
            behind: number;
        };
        PendingDeliveries: {
            /** @description the delay of the retry topic in which they wait, such as 5m; none: the first queue */
            tier?: string;
            reason?: string;
            deliveries: number;
        };
        ReasonCount: {
            reason: string;
            count: number;
        };
        Recall: {
            id: string;
            /** @enum {unknown} */
            kind: "retry" | "drain";
            destinationId: string;
            /**
             * Format: date-time
             * @description the recall covers deliveries that were pending at this time
             */
            requestedAt: string;
            /**
             * @description stopped: ended early, because the receiver is down, the destination is disabled, or a later request replaced this one
             * @enum {unknown}
             */
            state: "running" | "done" | "stopped";
            /** @description deliveries retried or drained so far */
            count: number;
            /** @description partitions of `deliveries`; the delivery replica that owns a partition does its part */
            partitions: {
                total: number;
                ended: number;
            };
        };
        RecoveryInput: {
            /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
            since: string;
            /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
            until?: string;
            /** @description a whole number from 1 to 100000; default: 50 */
            ratePerSecond?: number;
            /** @description true or false; true counts and publishes nothing; default: false */
            dryRun?: boolean;
        };
        Replay: {
            id: string;
            /**
             * @description superseded: a later replay was started; only one runs at a time
             * @enum {unknown}
             */
            state: "counting" | "running" | "done" | "interrupted" | "superseded" | "failed";
            dryRun: boolean;
            filter: {
                destination?: string;
                reason?: string;
                type?: string;
                event?: string;
                /** @description masked for a read-only token */
                userId?: string;
                /** Format: date-time */
                since?: string;
                /** Format: date-time */
                until?: string;
            };
            ratePerSecond: number;
            /** Format: date-time */
            startedAt: string;
            /** Format: date-time */
            endedAt?: string;
            /** @description dead letters to replay: they match, and were not replayed before; set once they are counted */
            due?: number;
            /** @description all dead letters that match, by destination and reason; the largest 100 */
            rows?: {
                destinationId?: string;
                reason?: string;
                deadLetters: number;
                /** @description how many were replayed */
                replayed: number;
                /** Format: date-time */
                oldestAt: string;
                /** Format: date-time */
                newestAt: string;
            }[];
            /** @description dead letters replayed so far */
            replayed: number;
            /** @description records that cannot be replayed: they are not deliveries, or their body was removed with their user */
            malformed: number;
            failure?: {
                code: string;
                message: string;
            };
        };
        ReplayInput: {
            /** @description the id of a destination */
            destination?: string;
            /** @description a reason, such as client-error */
            reason?: string;
            /**
             * @description one of track, identify, page, screen, group, alias, delete
             * @enum {unknown}
             */
            type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
            /** @description the name of a track event */
            event?: string;
            /** @description a userId, or an anonymousId where there is no userId */
            userId?: string;
            /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
            since?: string;
            /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
            until?: string;
            /** @description true or false; true replays all dead letters, and is required without a filter */
            all?: boolean;
            /** @description a whole number from 1 to 100000; default: 50 */
            ratePerSecond?: number;
            /** @description true or false; true counts and publishes nothing; default: false */
            dryRun?: boolean;
        };
        ReplayList: {
            items: components["schemas"]["Replay"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        ResealSecretsAnswer: {
            /** @description the ids of the destinations that were written */
            destinations: string[];
        };
        Resent: {
            /** @description the same as before: receivers recognise the delivery by it */
            deliveryId: string;
            /** @description the messageId of the call */
            eventId: string;
            destinationId: string;
            /** Format: date-time */
            requestedAt: string;
        };
        RotateSecretAnswer: {
            /** @description the new secret, shown once */
            sharedSecret: string;
            /**
             * Format: date-time
             * @description when the previous secret is dropped
             */
            previousSharedSecretUntil?: string;
        };
        RotateSecretInput: {
            /** @description how long the previous secret still signs: a duration from 0s to 30d, such as 24h (default) */
            keepPreviousFor?: string;
            /** @description true drops a secret that is still kept by an earlier rotation */
            force?: boolean;
        };
        Session: {
            /** @description the name of the token */
            name: string;
            /**
             * @description read, write or admin
             * @enum {unknown}
             */
            scope: "read" | "write" | "admin";
            /** @description the sources that it reaches */
            sources?: string[];
            /** @description the destinations that it reaches */
            destinations?: string[];
            /**
             * Format: date-time
             * @description the end of the session, or of the token if it is earlier
             */
            expiresAt?: string;
            /** @description where applications reach ingest, as far as the settings say it */
            ingestUrl?: string;
        };
        /** @description a source */
        Source: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id: string;
            /** @description a text of 1 to 200 characters */
            name?: string;
            /** @description a list of up to 20 write keys; only the built-in source has none */
            writeKeys: string[];
            /**
             * @description true or false
             * @default true
             */
            enabled: boolean;
            /** @description a mapping with the key track */
            schema?: {
                /** @description a mapping with the key blocked */
                track?: {
                    /** @description a list of up to 1,000 event names */
                    blocked: string[];
                };
            };
            /** @description a whole number of calls a second, from 1 to 1000000 */
            rateLimit?: number;
            /** @description a whole number of bytes a second, from 1024 to 1000000000, by default 10485760 */
            rateLimitBytes?: number;
            /** @description true or false */
            addIp?: boolean;
            /**
             * @description true for the source of operational events, which cannot be changed
             * @enum {boolean}
             */
            builtIn?: true;
        };
        SourceEvent: {
            event: string;
            /** @description calls of the last 90 days, including filtered calls */
            count: number;
            /** @description calls that were blocked */
            filtered: number;
            /** Format: date-time */
            firstSeenAt?: string;
            /** Format: date-time */
            lastSeenAt?: string;
            /** @description whether the source currently blocks the event */
            blocked: boolean;
        };
        /**
         * @description a source; every field is optional
         * @example {
         *       "id": "web",
         *       "name": "Website"
         *     }
         */
        SourceInput: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id?: string;
            /** @description a text of 1 to 200 characters */
            name?: string;
            /** @description a list of 1 to 20 write keys */
            writeKeys?: string[];
            /** @description true or false; default: true */
            enabled?: boolean;
            /** @description a mapping with the key track */
            schema?: {
                /** @description a mapping with the key blocked */
                track?: {
                    /** @description a list of up to 1,000 event names */
                    blocked: string[];
                };
            };
            /** @description a whole number of calls a second, from 1 to 1000000 */
            rateLimit?: number;
            /** @description a whole number of bytes a second, from 1024 to 1000000000, by default 10485760 */
            rateLimitBytes?: number;
            /** @description true or false */
            addIp?: boolean;
        };
        SourceList: {
            items: components["schemas"]["Source"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        /** @description the fields to change; null removes a field */
        SourcePatch: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id?: string;
            /** @description a text of 1 to 200 characters */
            name?: string | null;
            /** @description a list of 1 to 20 write keys */
            writeKeys?: string[];
            /** @description true or false; default: true */
            enabled?: boolean | null;
            /** @description a mapping with the key track */
            schema?: {
                /** @description a mapping with the key blocked */
                track?: {
                    /** @description a list of up to 1,000 event names */
                    blocked?: string[];
                } | null;
            } | null;
            /** @description a whole number of calls a second, from 1 to 1000000 */
            rateLimit?: number | null;
            /** @description a whole number of bytes a second, from 1024 to 1000000000, by default 10485760 */
            rateLimitBytes?: number | null;
            /** @description true or false */
            addIp?: boolean | null;
        };
        /** @description a source: a mapping with id and writeKeys */
        SourceReplacement: {
            /** @description 1 to 64 letters, digits, dashes and underscores */
            id?: string;
            /** @description a text of 1 to 200 characters */
            name?: string;
            /** @description a list of 1 to 20 write keys */
            writeKeys: string[];
            /** @description true or false; default: true */
            enabled?: boolean;
            /** @description a mapping with the key track */
            schema?: {
                /** @description a mapping with the key blocked */
                track?: {
                    /** @description a list of up to 1,000 event names */
                    blocked: string[];
                };
            };
            /** @description a whole number of calls a second, from 1 to 1000000 */
            rateLimit?: number;
            /** @description a whole number of bytes a second, from 1024 to 1000000000, by default 10485760 */
            rateLimitBytes?: number;
            /** @description true or false */
            addIp?: boolean;
        };
        SummariseDeadLettersAnswer: {
            deadLetters: number;
            replayed: number;
            /** @description in descending order of deadLetters */
            items: {
                destinationId?: string;
                reason?: string;
                deadLetters: number;
                /** @description how many were replayed */
                replayed: number;
                /** Format: date-time */
                oldestAt: string;
                /** Format: date-time */
                newestAt: string;
            }[];
            /** @description how many items `limit` left out; the sums include them */
            omitted: number;
        };
        TestDestinationAnswer: {
            items: components["schemas"]["TestResult"][];
        };
        TestDestinationInput: {
            /**
             * @description one of track, identify, page, screen, group, alias, delete
             * @enum {unknown}
             */
            type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
            /** @description the index of a URL, from 0; by default all URLs */
            webhook?: number;
        };
        TestResult: {
            request: {
                url: string;
                /** @description the values of the headers of the configuration are masked */
                headers: {
                    [key: string]: string;
                };
                body: string;
            };
            /** @description without `status` where there was no response */
            response: {
                status?: number;
                headers?: {
                    [key: string]: string;
                };
                /** @description the first 4 KB */
                body?: string;
                /** @description until the response, or until the request failed */
                latencyMs: number;
                /** @description why a delivery would have failed */
                reason?: string;
                detail?: string;
            };
        };
        /** @description a mapping with ca, clientCertificate and clientKey */
        TlsSettings: {
            /**
             * Format: certificates
             * @description one or more certificates in PEM
             */
            ca?: string;
            /**
             * Format: certificates
             * @description one or more certificates in PEM
             */
            clientCertificate?: string;
            /**
             * Format: private-key
             * @description a private key in PEM
             */
            clientKey?: string;
        };
        /** @description a mapping with ca, clientCertificate and clientKey */
        TlsSettingsPatch: {
            /** @description one or more certificates in PEM */
            ca?: string | null;
            /** @description one or more certificates in PEM */
            clientCertificate?: string | null;
            /** @description a private key in PEM */
            clientKey?: string | null;
        };
        Token: {
            id: string;
            name: string;
            /**
             * @description read, write or admin
             * @enum {unknown}
             */
            scope: "read" | "write" | "admin";
            /** @description the sources that it reaches */
            sources?: string[];
            /** @description the destinations that it reaches */
            destinations?: string[];
            /** Format: date-time */
            createdAt: string;
            /** @description the name of the token that created it */
            createdBy: string;
            /** Format: date-time */
            expiresAt?: string;
            expired: boolean;
        };
        /** @description a token: an object with name and scope */
        TokenInput: {
            /** @description a text of 1 to 100 characters without control characters */
            name: string;
            /**
             * @description read, write or admin
             * @enum {unknown}
             */
            scope: "read" | "write" | "admin";
            /** @description a list of 1 to 100 ids of sources */
            sources?: string[];
            /** @description a list of 1 to 100 ids of destinations */
            destinations?: string[];
            /** @description a time in ISO 8601 */
            expiresAt?: string;
            /** @description a duration such as 90d */
            expiresIn?: string;
        };
        TokenList: {
            items: components["schemas"]["Token"][];
            /** @description the cursor of the next page; absent on the last page */
            next?: string;
        };
        UsageDay: {
            /**
             * Format: date
             * @description in UTC
             */
            day: string;
            /** @description including filtered calls */
            calls: number;
            filtered: number;
            byType: {
                [key: string]: number;
            };
        };
        /** @description a mapping with url, headers and secretHeaders */
        Webhook: {
            /**
             * Format: webhook-url
             * @description a full URL with http or https
             */
            url: string;
            /** @description a mapping of up to 5 header names to values */
            headers?: {
                [key: string]: string;
            };
            /** @description a list of names of headers whose values are secret */
            secretHeaders?: string[];
        };
        /** @description a mapping with webhooks and sharedSecret */
        WebhooksSettings: {
            /** @description a text of 1 to 1,024 characters */
            sharedSecret?: string;
            /** @description a text of 1 to 1,024 characters */
            previousSharedSecret?: string;
            /**
             * Format: date-time
             * @description a time in UTC, such as 2026-05-01T08:30:00Z
             */
            previousSharedSecretUntil?: string;
            /** @description true or false */
            standardWebhooks?: boolean;
            /** @description true or false */
            traceparent?: boolean;
            tls?: components["schemas"]["TlsSettings"];
            /** @description a list of 1 to 5 webhooks */
            webhooks: components["schemas"]["Webhook"][];
        };
        /** @description a mapping with webhooks and sharedSecret */
        WebhooksSettingsPatch: {
            /** @description a text of 1 to 1,024 characters */
            sharedSecret?: string | null;
            /** @description a text of 1 to 1,024 characters */
            previousSharedSecret?: string | null;
            /** @description a time in UTC, such as 2026-05-01T08:30:00Z */
            previousSharedSecretUntil?: string | null;
            /** @description true or false */
            standardWebhooks?: boolean | null;
            /** @description true or false */
            traceparent?: boolean | null;
            /** @description a mapping with ca, clientCertificate and clientKey */
            tls?: components["schemas"]["TlsSettingsPatch"] | null;
            /** @description a list of 1 to 5 webhooks */
            webhooks?: components["schemas"]["Webhook"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": components["schemas"]["Document"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Website",
                     *       "scope": "read",
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "destinations": [
                     *         "crm"
                     *       ],
                     *       "expiresAt": "2026-05-01T08:30:00.000Z",
                     *       "ingestUrl": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            201: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Website",
                     *       "scope": "read",
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "destinations": [
                     *         "crm"
                     *       ],
                     *       "expiresAt": "2026-05-01T08:30:00.000Z",
                     *       "ingestUrl": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description signed out */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCatalog: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "type": "track",
                     *           "name": "Website",
                     *           "description": "text",
                     *           "supportedCalls": [
                     *             "text"
                     *           ],
                     *           "acceptsHistoricalTimestamps": true,
                     *           "settings": {}
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["CatalogEntryList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCatalogEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example track */
                type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "track",
                     *       "name": "Website",
                     *       "description": "text",
                     *       "supportedCalls": [
                     *         "text"
                     *       ],
                     *       "acceptsHistoricalTimestamps": true,
                     *       "settings": {}
                     *     }
                     */
                    "application/json": components["schemas"]["CatalogEntry"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSources: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
                /** @description a part of the id or of the name, in any case */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "web",
                     *           "name": "Website",
                     *           "writeKeys": [
                     *             "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *           ],
                     *           "enabled": true,
                     *           "schema": {
                     *             "track": {
                     *               "blocked": [
                     *                 "text"
                     *               ]
                     *             }
                     *           },
                     *           "rateLimit": 1,
                     *           "rateLimitBytes": 1024,
                     *           "addIp": true,
                     *           "builtIn": true
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["SourceList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "id": "web",
                 *       "name": "Website"
                 *     }
                 */
                "application/json": components["schemas"]["SourceInput"];
            };
        };
        responses: {
            /** @description a source */
            201: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replaceSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        /** @description a source: a mapping with id and writeKeys */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Website",
                 *       "writeKeys": [
                 *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SourceReplacement"];
            };
        };
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSource: {
        parameters: {
            query?: {
                /** @description true or false */
                force?: boolean;
            };
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        /** @description the fields to change; null removes a field */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Website",
                 *       "rateLimit": null
                 *     }
                 */
                "application/json": components["schemas"]["SourcePatch"];
            };
        };
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    addWriteKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            201: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "writeKey": "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *     }
                     */
                    "application/json": components["schemas"]["AddWriteKeyAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeWriteKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
                /** @example wk_1b9PpKb0T5hCq3m8XfJ2YxQa */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    blockEvent: {
        parameters: {
            query: {
                /**
                 * @description the name of a track event
                 * @example Order Completed
                 */
                event: string;
            };
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    unblockEvent: {
        parameters: {
            query: {
                /**
                 * @description the name of a track event
                 * @example Order Completed
                 */
                event: string;
            };
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    blockEventInPath: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
                /** @example Order Completed */
                event: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    unblockEventInPath: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
                /** @example Order Completed */
                event: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a source */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "writeKeys": [
                     *         "wk_1b9PpKb0T5hCq3m8XfJ2YxQa"
                     *       ],
                     *       "enabled": true,
                     *       "schema": {
                     *         "track": {
                     *           "blocked": [
                     *             "text"
                     *           ]
                     *         }
                     *       },
                     *       "rateLimit": 1,
                     *       "rateLimitBytes": 1024,
                     *       "addIp": true,
                     *       "builtIn": true
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDestinations: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
                /** @description a part of the id or of the name, in any case */
                search?: string;
                /** @description the id of a source: only destinations connected to it */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "web",
                     *           "type": "Webhooks",
                     *           "name": "Website",
                     *           "enabled": true,
                     *           "paused": true,
                     *           "sources": [
                     *             "web"
                     *           ],
                     *           "rateLimit": 1,
                     *           "ordering": "none",
                     *           "filter": {
                     *             "types": [
                     *               "track"
                     *             ],
                     *             "events": {
                     *               "include": [
                     *                 "Order *"
                     *               ]
                     *             },
                     *             "condition": {
                     *               "all": [
                     *                 {
                     *                   "field": "properties.total",
                     *                   "atLeast": 100
                     *                 },
                     *                 {
                     *                   "not": {
                     *                     "field": "userId",
                     *                     "equals": "test"
                     *                   }
                     *                 }
                     *               ]
                     *             }
                     *           },
                     *           "settings": {
                     *             "sharedSecret": "s3cret",
                     *             "previousSharedSecret": "text",
                     *             "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *             "standardWebhooks": true,
                     *             "traceparent": true,
                     *             "tls": {
                     *               "ca": "text",
                     *               "clientCertificate": "text",
                     *               "clientKey": "text"
                     *             },
                     *             "webhooks": [
                     *               {
                     *                 "url": "https://crm.example.com/hook",
                     *                 "headers": {},
                     *                 "secretHeaders": [
                     *                   "text"
                     *                 ]
                     *               }
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description a destination; id and sources are optional */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "crm",
                 *       "type": "Webhooks",
                 *       "sources": [
                 *         "web"
                 *       ],
                 *       "settings": {
                 *         "sharedSecret": "s3cret",
                 *         "webhooks": [
                 *           {
                 *             "url": "https://crm.example.com/hook",
                 *             "headers": {
                 *               "X-Team": "growth"
                 *             }
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["DestinationInput"];
            };
        };
        responses: {
            /** @description a destination with a mask for each secret */
            201: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replaceDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        /** @description a destination; a mask keeps the stored secret */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "Webhooks",
                 *       "sources": [
                 *         "web"
                 *       ],
                 *       "settings": {
                 *         "sharedSecret": "********",
                 *         "webhooks": [
                 *           {
                 *             "url": "https://crm.example.com/hook",
                 *             "headers": {
                 *               "X-Team": "growth"
                 *             }
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["DestinationReplacement"];
            };
        };
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        /** @description the fields to change; null removes a field */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true,
                 *       "rateLimit": null,
                 *       "settings": {
                 *         "sharedSecret": "s3cret"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["DestinationPatch"];
            };
        };
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    connectSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
                /** @example web */
                sourceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    disconnectSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
            };
            path: {
                /** @example web */
                id: string;
                /** @example web */
                sourceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    pauseDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resumeDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a destination with a mask for each secret */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "type": "Webhooks",
                     *       "name": "Website",
                     *       "enabled": true,
                     *       "paused": true,
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "rateLimit": 1,
                     *       "ordering": "none",
                     *       "filter": {
                     *         "types": [
                     *           "track"
                     *         ],
                     *         "events": {
                     *           "include": [
                     *             "Order *"
                     *           ]
                     *         },
                     *         "condition": {
                     *           "all": [
                     *             {
                     *               "field": "properties.total",
                     *               "atLeast": 100
                     *             },
                     *             {
                     *               "not": {
                     *                 "field": "userId",
                     *                 "equals": "test"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "settings": {
                     *         "sharedSecret": "s3cret",
                     *         "previousSharedSecret": "text",
                     *         "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z",
                     *         "standardWebhooks": true,
                     *         "traceparent": true,
                     *         "tls": {
                     *           "ca": "text",
                     *           "clientCertificate": "text",
                     *           "clientKey": "text"
                     *         },
                     *         "webhooks": [
                     *           {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "secretHeaders": [
                     *               "text"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Destination"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description the ETag that the entry must have; without it, any version is changed */
                "if-match"?: string;
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "keepPreviousFor": "24h",
                 *       "force": true
                 *     }
                 */
                "application/json": components["schemas"]["RotateSecretInput"];
            };
        };
        responses: {
            /** @description done */
            200: {
                headers: {
                    /** @description the version of the entry, for If-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sharedSecret": "s3cret",
                     *       "previousSharedSecretUntil": "2026-05-01T08:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RotateSecretAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `precondition-failed`: the resource has changed since the ETag in If-Match */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resealSecrets: {
        parameters: {
            query?: {
                /** @description whether the queries of URLs are sealed, from now on; by default as before */
                queries?: boolean;
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "destinations": [
                     *         "crm"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ResealSecretsAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `secret-key-missing`: a secret cannot be stored, because there is no key to encrypt it with */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `secret-locked`: a secret of the configuration is encrypted with a key that this process does not have */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retryDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /**
                 * @description 1 to 64 letters, digits, dashes and underscores
                 * @example web
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "kind": "retry",
                     *       "destinationId": "crm",
                     *       "requestedAt": "2026-05-01T08:30:00.000Z",
                     *       "state": "running",
                     *       "count": 0,
                     *       "partitions": {
                     *         "total": 0,
                     *         "ended": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Recall"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    drainDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /**
                 * @description 1 to 64 letters, digits, dashes and underscores
                 * @example web
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "kind": "retry",
                     *       "destinationId": "crm",
                     *       "requestedAt": "2026-05-01T08:30:00.000Z",
                     *       "state": "running",
                     *       "count": 0,
                     *       "partitions": {
                     *         "total": 0,
                     *         "ended": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Recall"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRecall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description 1 to 64 letters, digits, dashes and underscores
                 * @example web
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "kind": "retry",
                     *       "destinationId": "crm",
                     *       "requestedAt": "2026-05-01T08:30:00.000Z",
                     *       "state": "running",
                     *       "count": 0,
                     *       "partitions": {
                     *         "total": 0,
                     *         "ended": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Recall"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "type": "track",
                 *       "webhook": 0
                 *     }
                 */
                "application/json": components["schemas"]["TestDestinationInput"];
            };
        };
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "request": {
                     *             "url": "https://crm.example.com/hook",
                     *             "headers": {},
                     *             "body": "text"
                     *           },
                     *           "response": {
                     *             "status": 1,
                     *             "headers": {},
                     *             "body": "text",
                     *             "latencyMs": 1,
                     *             "reason": "timeout",
                     *             "detail": "text"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TestDestinationAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testFilter: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "filter": {
                 *         "condition": {
                 *           "field": "properties.total",
                 *           "atLeast": 100
                 *         }
                 *       },
                 *       "call": {
                 *         "type": "track",
                 *         "userId": "ada",
                 *         "event": "Order Completed",
                 *         "properties": {
                 *           "total": 25.5
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "passes": true,
                     *       "rule": {
                     *         "path": "text",
                     *         "text": "text"
                     *       },
                     *       "body": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["FilterTestResult"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-configuration`: sources or destinations are invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSourceEvents: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "event": "Order Completed",
                     *           "count": 1,
                     *           "filtered": 1,
                     *           "firstSeenAt": "2026-05-01T08:30:00.000Z",
                     *           "lastSeenAt": "2026-05-01T08:30:00.000Z",
                     *           "blocked": true
                     *         }
                     *       ],
                     *       "next": "IndlYiI",
                     *       "other": {
                     *         "count": 1,
                     *         "filtered": 1,
                     *         "firstSeenAt": "2026-05-01T08:30:00.000Z",
                     *         "lastSeenAt": "2026-05-01T08:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListSourceEventsAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSourceUsage: {
        parameters: {
            query?: {
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
            };
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "day": "text",
                     *           "calls": 1,
                     *           "filtered": 1,
                     *           "byType": {}
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GetSourceUsageAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description the id of a destination */
                destination?: string;
                /** @description the id of a source */
                source?: string;
                /** @description one of track, identify, page, screen, group, alias, delete */
                type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
                /** @description the name of a track event */
                event?: string;
                /** @description a userId, or an anonymousId for deliveries without userId */
                userId?: string;
                /** @description one of waiting, retrying, delivered, dead, unknown */
                status?: "waiting" | "retrying" | "delivered" | "dead" | "unknown";
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *           "eventId": "order-1042",
                     *           "sourceId": "web",
                     *           "destinationId": "crm",
                     *           "type": "track",
                     *           "event": "Order Completed",
                     *           "userKey": "ada",
                     *           "status": "waiting",
                     *           "createdAt": "2026-05-01T08:30:00.000Z",
                     *           "changedAt": "2026-05-01T08:30:00.000Z",
                     *           "attempts": 1,
                     *           "reason": "timeout",
                     *           "nextDueAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *       "eventId": "order-1042",
                     *       "sourceId": "web",
                     *       "destinationId": "crm",
                     *       "type": "track",
                     *       "event": "Order Completed",
                     *       "userKey": "ada",
                     *       "status": "waiting",
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "changedAt": "2026-05-01T08:30:00.000Z",
                     *       "attempts": 1,
                     *       "reason": "timeout",
                     *       "nextDueAt": "2026-05-01T08:30:00.000Z",
                     *       "history": [
                     *         {
                     *           "attempt": 1,
                     *           "startedAt": "2026-05-01T08:30:00.000Z",
                     *           "latencyMs": 1,
                     *           "outcome": "delivered",
                     *           "reason": "timeout",
                     *           "nextDueAt": "2026-05-01T08:30:00.000Z",
                     *           "urls": [
                     *             {
                     *               "url": "https://crm.example.com/hook",
                     *               "status": 1,
                     *               "reason": "timeout",
                     *               "detail": "text",
                     *               "latencyMs": 1
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryWithAttempts"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDeliveryBody: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *       "masked": true,
                     *       "body": {},
                     *       "text": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["GetDeliveryBodyAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDecisions: {
        parameters: {
            query?: {
                /** @description disabled, integrations, schema, filter, suppressed, or no-destination: none was connected to the source */
                reason?: string;
                /** @description the id of a source */
                source?: string;
                /** @description the id of a destination */
                destination?: string;
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "eventId": "order-1042",
                     *           "decidedAt": "2026-05-01T08:30:00.000Z",
                     *           "sourceId": "web",
                     *           "destinationId": "crm",
                     *           "type": "track",
                     *           "event": "Order Completed",
                     *           "userKey": "ada",
                     *           "reason": "timeout",
                     *           "rule": {
                     *             "path": "text",
                     *             "text": "text"
                     *           }
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["FilteredEventList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: {
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
            };
            header?: never;
            path: {
                /**
                 * @description the messageId of the call
                 * @example order-1042
                 */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "eventId": "order-1042",
                     *       "outcome": "routed",
                     *       "explanation": "text",
                     *       "deliveries": [
                     *         {
                     *           "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *           "eventId": "order-1042",
                     *           "sourceId": "web",
                     *           "destinationId": "crm",
                     *           "type": "track",
                     *           "event": "Order Completed",
                     *           "userKey": "ada",
                     *           "status": "waiting",
                     *           "createdAt": "2026-05-01T08:30:00.000Z",
                     *           "changedAt": "2026-05-01T08:30:00.000Z",
                     *           "attempts": 1,
                     *           "reason": "timeout",
                     *           "nextDueAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "decisions": [
                     *         {
                     *           "decidedAt": "2026-05-01T08:30:00.000Z",
                     *           "sourceId": "web",
                     *           "type": "track",
                     *           "routed": 1,
                     *           "filtered": [
                     *             {
                     *               "reason": "timeout",
                     *               "rule": {
                     *                 "path": "text",
                     *                 "text": "text"
                     *               },
                     *               "count": 1,
                     *               "destinations": [
                     *                 "crm"
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "rejections": [
                     *         {
                     *           "code": "text",
                     *           "message": "text",
                     *           "rejectedAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "accepted": {
                     *         "partition": 1,
                     *         "offset": 1,
                     *         "acceptedAt": "2026-05-01T08:30:00.000Z",
                     *         "sourceId": "web",
                     *         "type": "track",
                     *         "event": "Order Completed"
                     *       },
                     *       "searched": {
                     *         "since": "2026-05-01T08:30:00.000Z",
                     *         "complete": true
                     *       },
                     *       "behind": 1
                     *     }
                     */
                    "application/json": components["schemas"]["EventTrace"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDestinationStats: {
        parameters: {
            query?: {
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a number of whole minutes or hours, such as 5m or 1h; by default a sixtieth of the period, rounded up */
                step?: string;
            };
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "destinationId": "crm",
                     *       "since": "2026-05-01T08:30:00.000Z",
                     *       "until": "2026-05-01T08:30:00.000Z",
                     *       "step": "1h",
                     *       "total": {
                     *         "attempts": 1,
                     *         "delivered": 1,
                     *         "retry": 1,
                     *         "dead": 1,
                     *         "latencyMs": {
                     *           "p50": 1,
                     *           "p95": 1,
                     *           "p99": 1
                     *         }
                     *       },
                     *       "items": [
                     *         {
                     *           "at": "2026-05-01T08:30:00.000Z",
                     *           "attempts": 1,
                     *           "delivered": 1,
                     *           "retry": 1,
                     *           "dead": 1,
                     *           "latencyMs": {
                     *             "p50": 1,
                     *             "p95": 1,
                     *             "p99": 1
                     *           }
                     *         }
                     *       ],
                     *       "backlog": [
                     *         {
                     *           "at": "2026-05-01T08:30:00.000Z",
                     *           "deliveries": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GetDestinationStatsAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDestinationFailures: {
        parameters: {
            query?: {
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
            };
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "reason": "timeout",
                     *           "count": 1,
                     *           "dead": 1,
                     *           "firstAt": "2026-05-01T08:30:00.000Z",
                     *           "lastAt": "2026-05-01T08:30:00.000Z",
                     *           "samples": [
                     *             {
                     *               "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *               "attempt": 1,
                     *               "startedAt": "2026-05-01T08:30:00.000Z",
                     *               "latencyMs": 1,
                     *               "outcome": "delivered",
                     *               "reason": "timeout",
                     *               "nextDueAt": "2026-05-01T08:30:00.000Z",
                     *               "urls": [
                     *                 {
                     *                   "url": "https://crm.example.com/hook",
                     *                   "status": 1,
                     *                   "reason": "timeout",
                     *                   "detail": "text",
                     *                   "latencyMs": 1
                     *                 }
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GetDestinationFailuresAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a number of whole minutes or hours, such as 5m or 1h */
                step?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "since": "2026-05-01T08:30:00.000Z",
                     *       "until": "2026-05-01T08:30:00.000Z",
                     *       "step": "1h",
                     *       "total": {
                     *         "received": 1,
                     *         "blocked": 1,
                     *         "unconnected": 1,
                     *         "waiting": 1,
                     *         "retrying": 1,
                     *         "delivered": 1,
                     *         "dead": 1,
                     *         "unknown": 1,
                     *         "filtered": [
                     *           {
                     *             "reason": "timeout",
                     *             "count": 1
                     *           }
                     *         ],
                     *         "deadReasons": [
                     *           {
                     *             "reason": "timeout",
                     *             "count": 1
                     *           }
                     *         ],
                     *         "attempts": {
                     *           "attempts": 1,
                     *           "delivered": 1,
                     *           "retry": 1,
                     *           "dead": 1,
                     *           "latencyMs": {
                     *             "p50": 1,
                     *             "p95": 1,
                     *             "p99": 1
                     *           }
                     *         }
                     *       },
                     *       "before": {
                     *         "received": 1,
                     *         "blocked": 1,
                     *         "unconnected": 1,
                     *         "waiting": 1,
                     *         "retrying": 1,
                     *         "delivered": 1,
                     *         "dead": 1,
                     *         "unknown": 1,
                     *         "filtered": [
                     *           {
                     *             "reason": "timeout",
                     *             "count": 1
                     *           }
                     *         ],
                     *         "deadReasons": [
                     *           {
                     *             "reason": "timeout",
                     *             "count": 1
                     *           }
                     *         ],
                     *         "attempts": {
                     *           "attempts": 1,
                     *           "delivered": 1,
                     *           "retry": 1,
                     *           "dead": 1,
                     *           "latencyMs": {
                     *             "p50": 1,
                     *             "p95": 1,
                     *             "p99": 1
                     *           }
                     *         }
                     *       },
                     *       "items": [
                     *         {
                     *           "at": "2026-05-01T08:30:00.000Z",
                     *           "received": 1,
                     *           "blocked": 1,
                     *           "unconnected": 1,
                     *           "waiting": 1,
                     *           "retrying": 1,
                     *           "delivered": 1,
                     *           "dead": 1,
                     *           "unknown": 1,
                     *           "attempts": {
                     *             "attempts": 1,
                     *             "delivered": 1,
                     *             "retry": 1,
                     *             "dead": 1,
                     *             "latencyMs": {
                     *               "p50": 1,
                     *               "p95": 1,
                     *               "p99": 1
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "pending": [
                     *         {
                     *           "tier": "text",
                     *           "reason": "timeout",
                     *           "deliveries": 1
                     *         }
                     *       ],
                     *       "deadLetters": 1,
                     *       "breakers": [
                     *         {
                     *           "destinationId": "crm",
                     *           "deliveries": 1,
                     *           "openSince": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "behind": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDestinationPending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "tier": "text",
                     *           "reason": "timeout",
                     *           "deliveries": 1
                     *         }
                     *       ],
                     *       "total": 1,
                     *       "openSince": "2026-05-01T08:30:00.000Z",
                     *       "oldestAt": "2026-05-01T08:30:00.000Z",
                     *       "nextDueAt": "2026-05-01T08:30:00.000Z",
                     *       "reason": "timeout"
                     *     }
                     */
                    "application/json": components["schemas"]["DestinationPending"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    streamLive: {
        parameters: {
            query?: {
                /** @description true or false */
                attempts?: "true" | "false";
                /** @description only of this destination */
                destination?: string;
                /** @description only of this source */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    streamAttempts: {
        parameters: {
            query?: {
                /** @description only attempts with this destination */
                destination?: string;
                /** @description only attempts with this source */
                source?: string;
                /** @description one of track, identify, page, screen, group, alias, delete */
                type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
                /** @description only attempts with this event */
                event?: string;
                /** @description only attempts with this user */
                userId?: string;
                /** @description delivered, retry or dead */
                outcome?: "delivered" | "retry" | "dead";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the records of the topic attempts, one per line */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeadLetters: {
        parameters: {
            query?: {
                /** @description the id of a destination */
                destination?: string;
                /** @description a reason, such as client-error */
                reason?: string;
                /** @description one of track, identify, page, screen, group, alias, delete */
                type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
                /** @description the name of a track event */
                event?: string;
                /** @description a userId, or an anonymousId where there is no userId */
                userId?: string;
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "ref": "text",
                     *           "diedAt": "2026-05-01T08:30:00.000Z",
                     *           "reason": "timeout",
                     *           "replayed": true,
                     *           "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *           "eventId": "order-1042",
                     *           "sourceId": "web",
                     *           "destinationId": "crm",
                     *           "type": "track",
                     *           "event": "Order Completed",
                     *           "userKey": "ada",
                     *           "attempts": 1
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["DeadLetterList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    summariseDeadLetters: {
        parameters: {
            query?: {
                /** @description the id of a destination */
                destination?: string;
                /** @description a reason, such as client-error */
                reason?: string;
                /** @description one of track, identify, page, screen, group, alias, delete */
                type?: "track" | "identify" | "page" | "screen" | "group" | "alias" | "delete";
                /** @description the name of a track event */
                event?: string;
                /** @description a userId, or an anonymousId where there is no userId */
                userId?: string;
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a whole number from 1 to 10000: how many items at most; default: all */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deadLetters": 1,
                     *       "replayed": 1,
                     *       "items": [
                     *         {
                     *           "destinationId": "crm",
                     *           "reason": "timeout",
                     *           "deadLetters": 1,
                     *           "replayed": 1,
                     *           "oldestAt": "2026-05-01T08:30:00.000Z",
                     *           "newestAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "omitted": 1
                     *     }
                     */
                    "application/json": components["schemas"]["SummariseDeadLettersAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description a `ref`, or the id of a delivery
                 * @example text
                 */
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "ref": "text",
                     *           "diedAt": "2026-05-01T08:30:00.000Z",
                     *           "reason": "timeout",
                     *           "replayed": true,
                     *           "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *           "eventId": "order-1042",
                     *           "sourceId": "web",
                     *           "destinationId": "crm",
                     *           "type": "track",
                     *           "event": "Order Completed",
                     *           "userKey": "ada",
                     *           "attempts": 1,
                     *           "lastAnswer": {},
                     *           "masked": true,
                     *           "body": {},
                     *           "text": "text"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GetDeadLetterAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listReplays: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "web",
                     *           "state": "counting",
                     *           "dryRun": true,
                     *           "filter": {
                     *             "destination": "crm",
                     *             "reason": "timeout",
                     *             "type": "track",
                     *             "event": "Order Completed",
                     *             "userId": "ada",
                     *             "since": "2026-05-01T08:30:00.000Z",
                     *             "until": "2026-05-01T08:30:00.000Z"
                     *           },
                     *           "ratePerSecond": 1,
                     *           "startedAt": "2026-05-01T08:30:00.000Z",
                     *           "endedAt": "2026-05-01T08:30:00.000Z",
                     *           "due": 1,
                     *           "rows": [
                     *             {
                     *               "destinationId": "crm",
                     *               "reason": "timeout",
                     *               "deadLetters": 1,
                     *               "replayed": 1,
                     *               "oldestAt": "2026-05-01T08:30:00.000Z",
                     *               "newestAt": "2026-05-01T08:30:00.000Z"
                     *             }
                     *           ],
                     *           "replayed": 1,
                     *           "malformed": 1,
                     *           "failure": {
                     *             "code": "text",
                     *             "message": "text"
                     *           }
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["ReplayList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    startReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "destination": "crm",
                 *       "since": "2h"
                 *     }
                 */
                "application/json": components["schemas"]["ReplayInput"];
            };
        };
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "counting",
                     *       "dryRun": true,
                     *       "filter": {
                     *         "destination": "crm",
                     *         "reason": "timeout",
                     *         "type": "track",
                     *         "event": "Order Completed",
                     *         "userId": "ada",
                     *         "since": "2026-05-01T08:30:00.000Z",
                     *         "until": "2026-05-01T08:30:00.000Z"
                     *       },
                     *       "ratePerSecond": 1,
                     *       "startedAt": "2026-05-01T08:30:00.000Z",
                     *       "endedAt": "2026-05-01T08:30:00.000Z",
                     *       "due": 1,
                     *       "rows": [
                     *         {
                     *           "destinationId": "crm",
                     *           "reason": "timeout",
                     *           "deadLetters": 1,
                     *           "replayed": 1,
                     *           "oldestAt": "2026-05-01T08:30:00.000Z",
                     *           "newestAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "replayed": 1,
                     *       "malformed": 1,
                     *       "failure": {
                     *         "code": "text",
                     *         "message": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "counting",
                     *       "dryRun": true,
                     *       "filter": {
                     *         "destination": "crm",
                     *         "reason": "timeout",
                     *         "type": "track",
                     *         "event": "Order Completed",
                     *         "userId": "ada",
                     *         "since": "2026-05-01T08:30:00.000Z",
                     *         "until": "2026-05-01T08:30:00.000Z"
                     *       },
                     *       "ratePerSecond": 1,
                     *       "startedAt": "2026-05-01T08:30:00.000Z",
                     *       "endedAt": "2026-05-01T08:30:00.000Z",
                     *       "due": 1,
                     *       "rows": [
                     *         {
                     *           "destinationId": "crm",
                     *           "reason": "timeout",
                     *           "deadLetters": 1,
                     *           "replayed": 1,
                     *           "oldestAt": "2026-05-01T08:30:00.000Z",
                     *           "newestAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "replayed": 1,
                     *       "malformed": 1,
                     *       "failure": {
                     *         "code": "text",
                     *         "message": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    interruptReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "counting",
                     *       "dryRun": true,
                     *       "filter": {
                     *         "destination": "crm",
                     *         "reason": "timeout",
                     *         "type": "track",
                     *         "event": "Order Completed",
                     *         "userId": "ada",
                     *         "since": "2026-05-01T08:30:00.000Z",
                     *         "until": "2026-05-01T08:30:00.000Z"
                     *       },
                     *       "ratePerSecond": 1,
                     *       "startedAt": "2026-05-01T08:30:00.000Z",
                     *       "endedAt": "2026-05-01T08:30:00.000Z",
                     *       "due": 1,
                     *       "rows": [
                     *         {
                     *           "destinationId": "crm",
                     *           "reason": "timeout",
                     *           "deadLetters": 1,
                     *           "replayed": 1,
                     *           "oldestAt": "2026-05-01T08:30:00.000Z",
                     *           "newestAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "replayed": 1,
                     *       "malformed": 1,
                     *       "failure": {
                     *         "code": "text",
                     *         "message": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveryId": "5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60",
                     *       "eventId": "order-1042",
                     *       "destinationId": "crm",
                     *       "requestedAt": "2026-05-01T08:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Resent"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `expired`: the record with the body has expired from its topic */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `history-unavailable`: the history of events cannot be read now */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    recoverDestination: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2h"
                 *     }
                 */
                "application/json": components["schemas"]["RecoveryInput"];
            };
        };
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "counting",
                     *       "dryRun": true,
                     *       "filter": {
                     *         "destination": "crm",
                     *         "reason": "timeout",
                     *         "type": "track",
                     *         "event": "Order Completed",
                     *         "userId": "ada",
                     *         "since": "2026-05-01T08:30:00.000Z",
                     *         "until": "2026-05-01T08:30:00.000Z"
                     *       },
                     *       "ratePerSecond": 1,
                     *       "startedAt": "2026-05-01T08:30:00.000Z",
                     *       "endedAt": "2026-05-01T08:30:00.000Z",
                     *       "due": 1,
                     *       "rows": [
                     *         {
                     *           "destinationId": "crm",
                     *           "reason": "timeout",
                     *           "deadLetters": 1,
                     *           "replayed": 1,
                     *           "oldestAt": "2026-05-01T08:30:00.000Z",
                     *           "newestAt": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "replayed": 1,
                     *       "malformed": 1,
                     *       "failure": {
                     *         "code": "text",
                     *         "message": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeletions: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "web",
                     *           "state": "sending",
                     *           "createdAt": "2026-05-01T08:30:00.000Z",
                     *           "updatedAt": "2026-05-01T08:30:00.000Z",
                     *           "users": 0,
                     *           "liftedAt": "2026-05-01T08:30:00.000Z",
                     *           "unaffected": [
                     *             {
                     *               "sourceId": "web",
                     *               "reason": "disabled"
                     *             }
                     *           ],
                     *           "sources": [
                     *             {
                     *               "sourceId": "web",
                     *               "destinations": [
                     *                 "crm"
                     *               ],
                     *               "sent": 0
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletionSummaryList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createDeletion: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description a deletion request: an object with userIds */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "requestId": "ticket-4711",
                 *       "userIds": [
                 *         "ada"
                 *       ],
                 *       "sources": [
                 *         "web"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["DeletionInput"];
            };
        };
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "sending",
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "updatedAt": "2026-05-01T08:30:00.000Z",
                     *       "users": 0,
                     *       "liftedAt": "2026-05-01T08:30:00.000Z",
                     *       "unaffected": [
                     *         {
                     *           "sourceId": "web",
                     *           "reason": "disabled"
                     *         }
                     *       ],
                     *       "sources": [
                     *         {
                     *           "sourceId": "web",
                     *           "destinations": [
                     *             "crm"
                     *           ],
                     *           "sent": 0,
                     *           "delivered": 0,
                     *           "dead": 0,
                     *           "waiting": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Deletion"];
                };
            };
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "sending",
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "updatedAt": "2026-05-01T08:30:00.000Z",
                     *       "users": 0,
                     *       "liftedAt": "2026-05-01T08:30:00.000Z",
                     *       "unaffected": [
                     *         {
                     *           "sourceId": "web",
                     *           "reason": "disabled"
                     *         }
                     *       ],
                     *       "sources": [
                     *         {
                     *           "sourceId": "web",
                     *           "destinations": [
                     *             "crm"
                     *           ],
                     *           "sent": 0,
                     *           "delivered": 0,
                     *           "dead": 0,
                     *           "waiting": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Deletion"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `too-many-suppressions`: there are as many suppressed and deleted users as the services keep in memory */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDeletion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "sending",
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "updatedAt": "2026-05-01T08:30:00.000Z",
                     *       "users": 0,
                     *       "liftedAt": "2026-05-01T08:30:00.000Z",
                     *       "unaffected": [
                     *         {
                     *           "sourceId": "web",
                     *           "reason": "disabled"
                     *         }
                     *       ],
                     *       "sources": [
                     *         {
                     *           "sourceId": "web",
                     *           "destinations": [
                     *             "crm"
                     *           ],
                     *           "sent": 0,
                     *           "delivered": 0,
                     *           "dead": 0,
                     *           "waiting": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Deletion"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    liftDeletion: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "state": "sending",
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "updatedAt": "2026-05-01T08:30:00.000Z",
                     *       "users": 0,
                     *       "liftedAt": "2026-05-01T08:30:00.000Z",
                     *       "unaffected": [
                     *         {
                     *           "sourceId": "web",
                     *           "reason": "disabled"
                     *         }
                     *       ],
                     *       "sources": [
                     *         {
                     *           "sourceId": "web",
                     *           "destinations": [
                     *             "crm"
                     *           ],
                     *           "sent": 0,
                     *           "delivered": 0,
                     *           "dead": 0,
                     *           "waiting": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["LiftDeletionAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSuppressions: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "userId": "ada",
                     *           "since": "2026-05-01T08:30:00.000Z"
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["ListSuppressionsAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createSuppressions: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description an object with userIds */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "userIds": [
                 *         "ada"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateSuppressionsInput"];
            };
        };
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": 0,
                     *       "added": 0
                     *     }
                     */
                    "application/json": components["schemas"]["CreateSuppressionsAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state; `too-many-suppressions`: there are as many suppressed and deleted users as the services keep in memory */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description the id of the user
                 * @example ada
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "userId": "ada",
                     *       "since": "2026-05-01T08:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["GetSuppressionAnswer"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description the id of the user
                 * @example ada
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description lifted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAudiences: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description id of the source
                 * @example web
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "name": "Website",
                     *           "trait": "text",
                     *           "members": 0,
                     *           "sync": {
                     *             "id": "web",
                     *             "kind": "replace",
                     *             "state": "running",
                     *             "startedAt": "2026-05-01T08:30:00.000Z",
                     *             "updatedAt": "2026-05-01T08:30:00.000Z",
                     *             "read": 0,
                     *             "members": 0,
                     *             "added": 0,
                     *             "removed": 0,
                     *             "total": 0,
                     *             "sent": 0,
                     *             "refused": 0,
                     *             "problem": {
                     *               "code": "text",
                     *               "message": "text"
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["AudienceList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAudience: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description id of the source
                 * @example web
                 */
                id: string;
                /**
                 * @description a text of 1 to 200 characters
                 * @example Website
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Website",
                     *       "trait": "text",
                     *       "members": 0,
                     *       "sync": {
                     *         "id": "web",
                     *         "kind": "replace",
                     *         "state": "running",
                     *         "startedAt": "2026-05-01T08:30:00.000Z",
                     *         "updatedAt": "2026-05-01T08:30:00.000Z",
                     *         "read": 0,
                     *         "members": 0,
                     *         "added": 0,
                     *         "removed": 0,
                     *         "total": 0,
                     *         "sent": 0,
                     *         "refused": 0,
                     *         "problem": {
                     *           "code": "text",
                     *           "message": "text"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Audience"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    syncAudience: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 1000000: identify calls per second; by default TAILRACE_AUDIENCE_RATE */
                ratePerSecond?: number;
                /** @description true or false; true accepts an upload without members, by which every member leaves */
                allowEmpty?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description id of the source
                 * @example web
                 */
                id: string;
                /**
                 * @description a text of 1 to 200 characters
                 * @example Website
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
                "application/ndjson": string;
                "text/csv": string;
            };
        };
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "kind": "replace",
                     *       "state": "running",
                     *       "startedAt": "2026-05-01T08:30:00.000Z",
                     *       "updatedAt": "2026-05-01T08:30:00.000Z",
                     *       "read": 0,
                     *       "members": 0,
                     *       "added": 0,
                     *       "removed": 0,
                     *       "total": 0,
                     *       "sent": 0,
                     *       "refused": 0,
                     *       "problem": {
                     *         "code": "text",
                     *         "message": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AudienceSync"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8; `invalid-membership`: a line of an audience membership is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `took-too-long`: the work has taken the longest time that a limited token has for it */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `overloaded`: the memory limit for requests is reached */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteAudience: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 1000000: identify calls per second; by default TAILRACE_AUDIENCE_RATE */
                ratePerSecond?: number;
            };
            header?: never;
            path: {
                /**
                 * @description id of the source
                 * @example web
                 */
                id: string;
                /**
                 * @description a text of 1 to 200 characters
                 * @example Website
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "kind": "replace",
                     *       "state": "running",
                     *       "startedAt": "2026-05-01T08:30:00.000Z",
                     *       "updatedAt": "2026-05-01T08:30:00.000Z",
                     *       "read": 0,
                     *       "members": 0,
                     *       "added": 0,
                     *       "removed": 0,
                     *       "total": 0,
                     *       "sent": 0,
                     *       "refused": 0,
                     *       "problem": {
                     *         "code": "text",
                     *         "message": "text"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AudienceSync"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping; `overloaded`: the memory limit for requests is reached */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "web",
                     *           "name": "Website",
                     *           "scope": "read",
                     *           "sources": [
                     *             "web"
                     *           ],
                     *           "destinations": [
                     *             "crm"
                     *           ],
                     *           "createdAt": "2026-05-01T08:30:00.000Z",
                     *           "createdBy": "TAILRACE_API_TOKEN",
                     *           "expiresAt": "2026-05-01T08:30:00.000Z",
                     *           "expired": true
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is executed once, and answered alike */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description a token: an object with name and scope */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "crm-team",
                 *       "scope": "write",
                 *       "destinations": [
                 *         "crm"
                 *       ],
                 *       "expiresIn": "90d"
                 *     }
                 */
                "application/json": components["schemas"]["TokenInput"];
            };
        };
        responses: {
            /** @description done */
            201: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "scope": "read",
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "destinations": [
                     *         "crm"
                     *       ],
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "createdBy": "TAILRACE_API_TOKEN",
                     *       "expiresAt": "2026-05-01T08:30:00.000Z",
                     *       "expired": true,
                     *       "token": "text"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `conflict`: the request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency-key-reused`: the Idempotency-Key belongs to another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "web",
                     *       "name": "Website",
                     *       "scope": "read",
                     *       "sources": [
                     *         "web"
                     *       ],
                     *       "destinations": [
                     *         "crm"
                     *       ],
                     *       "createdAt": "2026-05-01T08:30:00.000Z",
                     *       "createdBy": "TAILRACE_API_TOKEN",
                     *       "expiresAt": "2026-05-01T08:30:00.000Z",
                     *       "expired": true
                     *     }
                     */
                    "application/json": components["schemas"]["Token"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example web */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description revoked */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid; `malformed-json`: the body is not JSON in UTF-8 */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body-too-large`: the body of the request is too large for this path */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported-media-type`: the Content-Type of the request is not supported; `unsupported-encoding`: the encoding of the body is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description an action, such as destination.update */
                action?: string;
                /** @description a target, such as destination/crm */
                target?: string;
                /** @description the name of an actor */
                actor?: string;
                /** @description done or refused */
                outcome?: "done" | "refused";
                /** @description the beginning of the period: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                since?: string;
                /** @description the end of the period, exclusive: ISO 8601 (2026-05-01T08:30Z), or a duration before now (15m, 2h, 7d) */
                until?: string;
                /** @description a whole number from 1 to 200 */
                limit?: number;
                /** @description `next` of the previous page; opaque */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "web",
                     *           "at": "2026-05-01T08:30:00.000Z",
                     *           "action": "destination.update",
                     *           "target": "destination/crm",
                     *           "outcome": "done",
                     *           "code": "text",
                     *           "actor": {
                     *             "kind": "token",
                     *             "name": "Website",
                     *             "tokenId": "text",
                     *             "fingerprint": "text"
                     *           },
                     *           "address": "text",
                     *           "changes": [
                     *             {
                     *               "field": "text",
                     *               "before": {},
                     *               "after": {}
                     *             }
                     *           ],
                     *           "moreChanges": 1,
                     *           "notRecorded": 1
                     *         }
                     *       ],
                     *       "next": "IndlYiI"
                     *     }
                     */
                    "application/json": components["schemas"]["AuditEntryList"];
                };
            };
            /** @description `malformed-request`: the request is not valid HTTP; `invalid-request`: a parameter or the body of the request is invalid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: the request has no valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `forbidden`: the scope or the limits of the token do not permit the request */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not-found`: there is no resource at this path */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too-many-requests`: the token sends more requests than its rate limit allows; `too-many-at-once`: the limit of concurrent operations of this kind is reached */
            429: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal-error`: Tailrace has a defect */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `kafka-unavailable`: Kafka did not acknowledge in time; `topic-missing`: a topic does not exist; `shutting-down`: this process is stopping */
            503: {
                headers: {
                    /** @description seconds to wait before the request is sent again */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
