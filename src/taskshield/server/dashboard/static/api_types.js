/**
 * The JSON of the native API. Types only, made from the server's OpenAPI document by `make check`.
 *
 * @typedef {import("openapi").components["schemas"]} Schemas
 * @typedef {import("openapi").paths} Paths
 *
 * @typedef {Schemas["ApprovalOut"]} Approval
 * @typedef {Schemas["CallOut"]} Call
 * @typedef {Schemas["Contradiction"]} Contradiction
 * @typedef {Schemas["DecisionOut"]} Decision
 * @typedef {Schemas["EvidenceOut"]} Evidence
 * @typedef {Schemas["Finding"]} Finding
 * @typedef {Schemas["LabelOut"]} Label
 * @typedef {Schemas["PlaceOut"]} Place
 * @typedef {Schemas["RecordOut"]} AuditRecord
 * @typedef {Schemas["RunOut"]} Run one judge's decisions on a conversation
 * @typedef {Schemas["Sample"]} Sample
 * @typedef {Schemas["Score"]} Score
 * @typedef {Schemas["SessionRow"]} SessionRow
 * @typedef {Schemas["Stats"]} Stats
 * @typedef {Schemas["TaskOut"]} Task
 * @typedef {Schemas["TimelineItem"]} StoredItem a message of a session
 *
 * @typedef {Schemas["Benchmark"]} Benchmark one run of a benchmark, with its results
 * @typedef {Schemas["JudgeLatency"]} JudgeLatency
 * @typedef {Schemas["Rate"]} Rate
 */

/**
 * A message as the page shows it. One of the playground is not stored: it has no time and origin.
 *
 * @typedef {Omit<StoredItem, "at" | "surface"> & {at: string | null, surface: string | null}} Item
 */

/** @typedef {"get" | "post" | "put" | "delete"} Method */

/**
 * The paths that have a method.
 *
 * @template {Method} M
 * @typedef {{[P in keyof Paths]: Paths[P] extends Record<M, {responses: unknown}> ? P : never
 *   }[keyof Paths]} PathWith
 */

/**
 * @template {Method} M
 * @template {PathWith<M>} P
 * @typedef {Paths[P][M]} Operation
 */

/**
 * @template O an operation
 * @typedef {O extends {parameters: {path: infer V}} ? V : {}} PathParameters
 */

/**
 * @template O an operation
 * @typedef {O extends {parameters: {query?: infer Q}} ? (Q extends object ? Q : {}) : {}
 *   } QueryParameters
 */

/**
 * The parameters of a request, those in the path and those in the query.
 *
 * @template {Method} M
 * @template {PathWith<M>} P
 * @typedef {PathParameters<Operation<M, P>> & QueryParameters<Operation<M, P>>} Given
 */

/**
 * @template O an operation
 * @typedef {O extends {requestBody?: never} ? undefined
 *   : O extends {requestBody?: {content: {"application/json": infer B}}} ? B : undefined} BodyOf
 */

/**
 * The body of a request; undefined where it has none.
 *
 * @template {Method} M
 * @template {PathWith<M>} P
 * @typedef {BodyOf<Operation<M, P>>} Body
 */

/**
 * The JSON that answers a request; null where the answer is empty.
 *
 * @template {Method} M
 * @template {PathWith<M>} P
 * @typedef {Operation<M, P> extends {responses: {200: {content: {"application/json": infer A}}}}
 *   ? A : null} Answer
 */

export {};
