/**
 * The JSON of the native API, as far as the page reads it. Types only.
 *
 * @typedef {{start: number, end: number}} Span in characters (code points) of a message's text
 * @typedef {{target: string, value: number, reason: string}} Score
 *
 * @typedef {object} Origin
 * @property {number} message
 * @property {Span | null} span
 * @property {string | null} call_id
 * @property {string | null} tool
 * @property {string | null} arguments as the model wrote them
 *
 * @typedef {{text: string, level: string, origin: Origin}} Instruction
 *
 * @typedef {object} Finding
 * @property {Instruction} instruction
 * @property {string | null} call_id
 * @property {string | null} tier
 * @property {Score[]} scores one for each task
 * @property {Score | null} taint
 * @property {number} total
 * @property {number} epsilon
 * @property {boolean} aligned
 * @property {boolean} approved
 * @property {string} action
 * @property {string} reason
 *
 * @typedef {{id: string, tool: string, tier: string, action: string, allowed: boolean}} Call
 * @typedef {{calls: number, prompt_tokens: number, completion_tokens: number}} Usage
 *
 * @typedef {object} Decision
 * @property {string} id
 * @property {number} number
 * @property {string} level
 * @property {string} action
 * @property {boolean} allowed
 * @property {"executed" | "skipped" | "failed"} check
 * @property {{kind: string, detail: string} | null} outage
 * @property {string[]} unreadable
 * @property {Finding[]} findings
 * @property {Call[]} calls
 * @property {string | null} feedback
 * @property {string} content
 * @property {string} judge
 * @property {boolean} cached
 * @property {Usage} usage
 * @property {number} elapsed_ms
 * @property {string | null} approval
 *
 * @typedef {{message: number, start: number, end: number}} Place
 *
 * @typedef {object} Evidence
 * @property {string} call_id
 * @property {string} path
 * @property {string} value
 * @property {string} origin
 * @property {Place[]} places
 *
 * @typedef {{source: string, scope: string}} Grant
 * @typedef {{id: string, text: string, message: number, grant: Grant | null}} Task
 *
 *
 * @typedef {object} Label
 * @property {string} decision
 * @property {"wrong" | "right"} label
 * @property {string} note
 * @property {string} by
 * @property {string} at
 *
 * @typedef {object} Item
 * @property {number} number
 * @property {string} level
 * @property {string} text
 * @property {string | null} at
 * @property {string | null} surface
 * @property {string | null} agent
 * @property {Decision} decision
 * @property {Evidence[]} evidence
 * @property {Label | null} label what a person said of the decision
 *
 * @typedef {object} SessionRow
 * @property {string} id
 * @property {string | null} surface
 * @property {string | null} agent
 * @property {string[]} tasks
 * @property {number} messages
 * @property {number} blocked
 * @property {number} escalated
 * @property {string | null} last_action
 * @property {string | null} last_at
 * @property {string} updated_at
 *
 * @typedef {object} Approval
 * @property {string} id
 * @property {string} session
 * @property {string} decision
 * @property {string} summary
 * @property {string} created_at
 * @property {string} deadline
 * @property {"pending" | "approved" | "denied" | "expired"} status
 * @property {string | null} decided_at
 * @property {string | null} decided_by
 * @property {string} note
 */

export {};
