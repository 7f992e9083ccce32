import { fieldInvalid, type StatusCause } from "@virtual-workspaces/apimachinery";

const RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Why a text is no DNS-1035 label (at most 63 bytes), in apimachinery's words; empty when it is one. */
function labelProblems(text: string): string[] {
  const problems = Buffer.byteLength(text) > 63 ? ["must be no more than 63 characters"] : [];
  if (!/^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(text)) problems.push(RULE);
  return problems;
}

/** The same as one cause, or none. */
export function* labelCause(field: string, text: string, prefix = ""): Generator<StatusCause, void> {
  const problems = labelProblems(prefix === "" ? text : text.toLowerCase());
  if (problems.length > 0) yield fieldInvalid(field, text, prefix + problems.join(","));
}
