const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;

// Messages show Kubernetes' patterns. These patterns here have no nested repetition, so that they cannot backtrack.
const LABEL_PATTERN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED_PATTERN = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

const QUALIFIED_TEXT =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const RULES = {
  label: rule(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    LABEL,
    ["my-name", "123-abc"],
  ),
  subdomain: rule(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    SUBDOMAIN,
    ["example.com"],
  ),
  qualified: rule(`must ${QUALIFIED_TEXT}`, QUALIFIED, ["MyName", "my.name", "123-abc"]),
  labelValue: rule(`a valid label must be an empty string or ${QUALIFIED_TEXT}`, LABEL_VALUE, [
    "MyValue",
    "my_value",
    "12345",
  ]),
};

/** Returns why a text is not an object name (DNS-1123 subdomain, at most 253 bytes), in apimachinery's words; else empty. */
export function nameProblems(name: string): string[] {
  return subdomainProblems(name, "characters");
}

/** Kubernetes counts bytes, which equal characters here, and its messages use both words. */
function subdomainProblems(name: string, unit: "characters" | "bytes"): string[] {
  const problems = name.length > 253 ? [tooLong(253, unit)] : [];
  if (!isSubdomain(name)) problems.push(RULES.subdomain);
  return problems;
}

/** Returns why a text is not a DNS-1123 label (namespaces, cluster name segments; at most 63 bytes); empty if it is one. */
export function dnsLabelProblems(text: string): string[] {
  const problems = text.length > 63 ? [tooLong(63, "characters")] : [];
  if (LABEL_PATTERN.test(text)) return problems;
  problems.push(isSubdomain(text) ? "must not contain dots" : RULES.label);
  return problems;
}

/** Returns why a text cannot be one segment of a URL path; empty if it can. The minimal rule for any object name. */
export function pathSegmentProblems(text: string): string[] {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return ["/", "%"].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Returns why a text is not a label or annotation key (a qualified name: `app`, `example.com/app`); empty if it is one. */
export function labelKeyProblems(key: string): string[] {
  const parts = key.split("/", 3);
  if (parts.length > 2) {
    return [
      `a valid label key ${RULES.qualified} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const [prefix, name = key] = parts.length === 2 ? parts : [undefined, key];
  const problems = prefix === undefined ? [] : prefixProblems(prefix).map((problem) => `prefix part ${problem}`);
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > 63) problems.push(`name part ${tooLong(63)}`);
  if (!QUALIFIED_PATTERN.test(name)) problems.push(`name part ${RULES.qualified}`);
  return problems;
}

/** Returns why a text is not a label value (at most 63 bytes, may be empty); empty if it is one. */
export function labelValueProblems(value: string): string[] {
  const problems = value.length > 63 ? [tooLong(63)] : [];
  if (value !== "" && !QUALIFIED_PATTERN.test(value)) problems.push(RULES.labelValue);
  return problems;
}

/** Returns the plural resource name that Kubernetes guesses for a kind (meta.UnsafeGuessKindToResource), in lower case. */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular === "" || singular.endsWith("endpoints")) return singular;
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

function isSubdomain(text: string): boolean {
  return text.split(".").every((label) => LABEL_PATTERN.test(label));
}

function prefixProblems(prefix: string): string[] {
  return prefix === "" ? ["must be non-empty"] : subdomainProblems(prefix, "bytes");
}

function tooLong(bytes: number, unit: "characters" | "bytes" = "bytes"): string {
  return `must be no more than ${bytes} ${unit}`;
}

function rule(text: string, pattern: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(" or "); // Both spaces are Kubernetes' own.
  return `${text} (e.g. ${shown}regex used for validation is '${pattern}')`;
}
