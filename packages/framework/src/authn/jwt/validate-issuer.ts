import { X509Certificate } from "node:crypto";
import { fieldDuplicate, fieldInvalid, fieldRequired, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { JwtIssuer } from "./jwt-options.ts";
import { givenKeys } from "./key-source.ts";

/** Validates an issuer and returns errors with Kubernetes' texts. Optional fields, if set, are not empty. */
export function issuerProblems(issuer: JwtIssuer, path: string): StatusCause[] {
  const { url, discoveryURL, certificateAuthority, keys } = issuer;
  return [
    ...(url === "" ? [fieldRequired(`${path}.url`)] : keys === undefined ? urlProblems(url, `${path}.url`) : []),
    ...discoveryProblems(issuer, `${path}.discoveryURL`),
    ...audienceProblems(issuer, path),
    ...(certificateAuthority === undefined
      ? []
      : authorityProblems(certificateAuthority, `${path}.certificateAuthority`)),
    ...(keys === undefined ? [] : keyProblems(keys, { discoveryURL, path })),
  ];
}

function urlProblems(url: string, field: string): StatusCause[] {
  if (!URL.canParse(url))
    return [fieldInvalid(field, url, url.startsWith("https:") ? "it is no URL" : "URL scheme must be https")];
  const { protocol, username, password } = new URL(url);
  const problems: readonly (readonly [boolean, string])[] = [
    [protocol !== "https:", "URL scheme must be https"],
    [username !== "" || password !== "", "URL must not contain a username or password"],
    [/^[^#]*\?./.test(url), "URL must not contain a query"],
    [/#./.test(url), "URL must not contain a fragment"],
  ];
  return problems.filter(([holds]) => holds).map(([, text]) => fieldInvalid(field, url, text));
}

function discoveryProblems({ url, discoveryURL }: JwtIssuer, field: string): StatusCause[] {
  if (discoveryURL === undefined) return [];
  const same = url !== "" && url.replace(/\/+$/, "") === discoveryURL.replace(/\/+$/, "");
  return [
    ...(same ? [fieldInvalid(field, discoveryURL, "discoveryURL must be different from URL")] : []),
    ...urlProblems(discoveryURL, field),
  ];
}

function audienceProblems({ audiences, audienceMatchPolicy: policy }: JwtIssuer, path: string): StatusCause[] {
  const field = `${path}.audiences`;
  if (audiences.length === 0) return [fieldRequired(field, `at least one ${field} is required`)];
  const problems = audiences.flatMap((audience, at) => [
    ...(audience === "" ? [fieldRequired(`${field}[${at}]`)] : []),
    ...(audiences.indexOf(audience) < at ? [fieldDuplicate(`${field}[${at}]`, audience)] : []),
  ]);
  const wrong = (detail: string): StatusCause =>
    fieldInvalid(`${path}.audienceMatchPolicy`, policy ?? "", `audienceMatchPolicy must be ${detail}`);
  if (audiences.length > 1 && policy !== "MatchAny") problems.push(wrong("MatchAny for multiple audiences"));
  if (audiences.length === 1 && policy !== "MatchAny" && (policy ?? "") !== "")
    problems.push(wrong("empty or MatchAny for single audience"));
  return problems;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function authorityProblems(pem: string, field: string): StatusCause[] {
  const blocks = pem.match(CERTIFICATE) ?? [];
  const problem =
    blocks.length === 0 ? "data does not contain any valid RSA or ECDSA certificates" : firstFault(blocks);
  return problem === undefined ? [] : [fieldInvalid(field, "<omitted>", problem)];
}

function firstFault(blocks: readonly string[]): string | undefined {
  return faultOf(() => {
    for (const block of blocks) new X509Certificate(block);
  });
}

function keyProblems(
  keys: NonNullable<JwtIssuer["keys"]>,
  { discoveryURL, path }: { readonly discoveryURL: string | undefined; readonly path: string },
): StatusCause[] {
  const fault = faultOf(() => givenKeys(keys));
  return [
    ...(fault === undefined ? [] : [fieldInvalid(`${path}.keys`, "<omitted>", fault)]),
    ...(discoveryURL === undefined
      ? []
      : [fieldInvalid(`${path}.discoveryURL`, discoveryURL, "keys are given: leave it out")]),
  ];
}

function faultOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
