import { dnsLabelProblems, labelKeyProblems, labelValueProblems, nameProblems } from "@virtual-workspaces/apimachinery";
import { CelError, parseSchemaTimestamp } from "../values/formatted.ts";
import { requestUriProblem } from "../values/url.ts";

/** Format to validate strings against (`format.dns1123Label()`). */
export class NamedFormat {
  readonly name: string;
  /** Length of the underlying pattern, which determines Kubernetes' cost. */
  readonly patternSize: number;
  /** Returns the validation errors of a string; empty if it is valid. */
  readonly problems: (text: string) => readonly string[];

  constructor(name: string, patternSize: number, problems: (text: string) => readonly string[]) {
    this.name = name;
    this.patternSize = patternSize;
    this.problems = problems;
  }
}

const DNS_1035_LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const DATE_TIME_LENGTH = 78;
const CLOCK = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;

/** Formats that rules can name. */
export const NAMED_FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  [
    new NamedFormat("dns1123Label", 30, labelProblems),
    new NamedFormat("dns1123Subdomain", 60, subdomainProblems),
    new NamedFormat("dns1035Label", 30, dns1035LabelProblems),
    new NamedFormat("qualifiedName", 60, labelKeyProblems),
    new NamedFormat("dns1123LabelPrefix", 30, (text) => labelProblems(asWhole(text))),
    new NamedFormat("dns1123SubdomainPrefix", 60, (text) => subdomainProblems(asWhole(text))),
    new NamedFormat("dns1035LabelPrefix", 30, (text) => dns1035LabelProblems(asWhole(text))),
    new NamedFormat("labelValue", 40, labelValueProblems),
    new NamedFormat("uri", 1000, uriProblems),
    new NamedFormat("uuid", 70, (text) => (UUID.test(text) ? [] : ["does not match the UUID format"])),
    new NamedFormat("byte", 84, (text) => (isBase64(text) ? [] : ["invalid base64"])),
    new NamedFormat("date", DATE_TIME_LENGTH, (text) => (isDate(text) ? [] : ["invalid date"])),
    new NamedFormat("datetime", DATE_TIME_LENGTH, (text) => (isDateTime(text) ? [] : ["invalid datetime"])),
  ].map((format) => [format.name, format]),
);

function labelProblems(text: string): string[] {
  return dnsLabelProblems(text).map(inCharacters);
}

function subdomainProblems(text: string): string[] {
  return nameProblems(text).map(inCharacters);
}

/** Kubernetes 1.37 says characters in these two messages, and bytes in the others. */
function inCharacters(problem: string): string {
  return problem.replace(/(?<=^must be no more than \d+) bytes$/, " characters");
}

/** Extends a prefix to a name that it could begin. */
function asWhole(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;
}

function dns1035LabelProblems(text: string): string[] {
  const problems = text.length > 63 ? ["must be no more than 63 characters"] : [];
  return /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(text) ? problems : [...problems, DNS_1035_LABEL];
}

function uriProblems(text: string): string[] {
  const problem = requestUriProblem(text);
  return problem === undefined ? [] : [`parse ${JSON.stringify(text)}: ${problem}`];
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}

function isDate(text: string): boolean {
  try {
    parseSchemaTimestamp(text, "date");
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function isDateTime(text: string): boolean {
  const [date = "", clock = ""] = text.toLowerCase().split("t");
  const [, hours = "99", minutes = "99", seconds = "99"] = CLOCK.exec(clock) ?? [];
  return isDate(date) && hours <= "23" && minutes <= "59" && seconds <= "59";
}
