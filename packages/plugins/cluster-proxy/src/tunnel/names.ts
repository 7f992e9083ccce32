/** What the agent says of why there is no connection, percent-encoded. */
export const MESSAGE_HEADER = "tunnel-message";
