import type { Question, Subject } from "./reviews.ts";

/** Text of the fields of the form. All of it is in the address. */
export interface AccessFields {
  readonly verb: string;
  /** `deployments.apps/scale`, `pods`, `*`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly groups: string;
}

/** Every authenticated user has this group: reviews do not add it. */
const EVERY_USER = "system:authenticated";

export const NOTHING: AccessFields = {
  verb: "get",
  resource: "",
  namespace: "",
  name: "",
  user: "",
  groups: "",
};

/** The fields with another user name: the group of all users comes and goes with it. */
export function withUser(fields: AccessFields, user: string): AccessFields {
  const isNone = user.trim() === "";
  if (!isNone && fields.user.trim() === "" && fields.groups === "") return { ...fields, user, groups: EVERY_USER };
  if (isNone && fields.groups === EVERY_USER) return { ...fields, user, groups: "" };
  return { ...fields, user };
}

/** The text of the address. */
export function fieldsText(fields: AccessFields): string {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "")).toString();
}

export function fieldsOf(text: string): AccessFields {
  const found = new URLSearchParams(text);
  const of = (name: keyof AccessFields) => (found.get(name) ?? "").trim();
  return {
    ...{ verb: of("verb"), resource: of("resource"), namespace: of("namespace") },
    ...{ name: of("name"), user: of("user"), groups: of("groups") },
  };
}

export function questionOf({ verb, resource: text, namespace, name }: AccessFields, isNamespaced: boolean): Question {
  const [whole = "", subresource = ""] = text.split("/", 2);
  const [resource = "", group = ""] = whole === "*" ? ["*", "*"] : whole.split(/\.(.*)/s, 2);
  return { verb, group, resource, subresource, namespace: isNamespaced ? namespace : "", name };
}

/** The user of the question; undefined for the signed-in one. */
export function subjectOf({ user, groups }: AccessFields): Subject | undefined {
  const named = listOf(groups);
  if (user === "" && named.every((one) => one === EVERY_USER)) return undefined;
  return { user, groups: named };
}

/** Names that are separated by commas. */
export function listOf(text: string): readonly string[] {
  return [...new Set(text.split(",").map((one) => one.trim()))].filter((one) => one !== "");
}

export const nameOfResource = ({ group, resource, subresource }: Question): string =>
  `${resource}${group === "" || (group === "*" && resource === "*") ? "" : `.${group}`}${subresource === "" ? "" : `/${subresource}`}`;

/** The question in words. */
export function textOf(question: Question): string {
  const { verb, namespace, name } = question;
  const object = name === "" ? "" : ` ${name}`;
  return `${verb} ${nameOfResource(question)}${object}${namespace === "" ? "" : ` in ${namespace}`}`;
}
