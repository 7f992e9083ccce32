import { fieldInvalid, fieldRequired, type StatusCause } from "@virtual-workspaces/apimachinery";

/** What a resource is called (apiextensions' CustomResourceDefinitionNames). */
export interface ResourceNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string | undefined;
  readonly listKind?: string | undefined;
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
}

/** What is wrong with the names of a resource (apiextensions' ValidateCustomResourceDefinitionNames); all are required. */
export function namesProblems(names: ResourceNames, path: string): StatusCause[] {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  const required = Object.entries({ plural, singular, kind, listKind }).filter(([, name]) => name === "");
  const plain = { plural, singular };
  const mixed = { kind, listKind };
  const lists = { shortNames, categories };
  return [
    ...required.map(([field]) => fieldRequired(`${path}.${field}`)),
    ...Object.entries(plain).flatMap(([field, name]) => labelProblems(name, `${path}.${field}`)),
    ...Object.entries(mixed).flatMap(([field, name]) => kindProblems(name, `${path}.${field}`)),
    ...(kind !== "" && kind === listKind
      ? [fieldInvalid(`${path}.listKind`, listKind, "kind and listKind may not be the same")]
      : []),
    ...Object.entries(lists).flatMap(([field, all]) =>
      all.flatMap((name, at) => dns1035Problems(name).map((why) => fieldInvalid(`${path}.${field}[${at}]`, name, why))),
    ),
  ];
}

/** Why a text is no DNS-1035 label, which names and versions of resources are; empty when it is one. */
export function dns1035Problems(text: string): string[] {
  const isLabel = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(text);
  return [...(text.length > 63 ? ["must be no more than 63 characters"] : []), ...(isLabel ? [] : [DNS_1035])];
}

const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?')";

function labelProblems(name: string, path: string): StatusCause[] {
  const why = name === "" ? [] : dns1035Problems(name);
  return why.length === 0 ? [] : [fieldInvalid(path, name, why.join(","))];
}

function kindProblems(name: string, path: string): StatusCause[] {
  const why = name === "" ? [] : dns1035Problems(name.toLowerCase());
  if (why.length === 0) return [];
  return [fieldInvalid(path, name, `may have mixed case, but should otherwise match: ${why.join(",")}`)];
}
