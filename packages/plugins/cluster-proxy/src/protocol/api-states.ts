/**
 * States of the API server behind an agent, as the agent reports them. A ping carries the position in this list, and a request for a
 * tunnel the name. Security: a hub shows its own words for a state, and nothing else that an agent reports.
 */
export const API_STATES = ["Available", "Unreachable", "Untrusted", "CredentialRejected", "Failing"] as const;

/** State of the API server behind an agent. */
export type ApiState = (typeof API_STATES)[number];
