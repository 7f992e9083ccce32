import {
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  isJsonObject,
  type KubeObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { base64Bytes, checkBase64, immutableProblems, keyProblems, MAX_DATA } from "./data.ts";
import { flag, text, textMap } from "./descriptions.ts";
import { countOf, finalizerProblems, immutableProblem, membersOf, textOf } from "./problems.ts";

/** Fields of a Secret. */
export interface SecretContent {
  /** Base64-encoded values by key. */
  data?: Record<string, string>;
  /** Plain text by key, write-only; reads return it in `data`. */
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

/** Type of Secrets that request a service account token, which a controller fills in. */
const SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token";
/** Annotation with the service account of such a Secret. */
const SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name";

/** Merges the write-only field into `data`, before field managers are recorded. */
function defaults(object: KubeObject): void {
  checkBase64(object, "data");
  const plain = membersOf(object["stringData"]);
  delete object["stringData"];
  const entries = Object.entries(plain).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  if (entries.length === 0) return;
  const encoded = entries.map(([key, value]) => [key, Buffer.from(value).toString("base64")] as const);
  object["data"] = { ...membersOf(object["data"]), ...Object.fromEntries(encoded) };
}

function problems(object: KubeObject, before: KubeObject | undefined): StatusCause[] {
  const data = membersOf(object["data"]);
  const bytes = Object.values(data).reduce<number>((sum, value) => sum + base64Bytes(textOf(value)), 0);
  const changes =
    before === undefined
      ? []
      : [...immutableProblem("type", object["type"], before["type"]), ...immutableProblems(object, before, ["data"])];
  return [
    ...finalizerProblems(object.metadata),
    ...changes,
    ...keyProblems("data", data),
    ...(bytes > MAX_DATA ? [fieldTooLong("data", MAX_DATA)] : []),
    ...typeProblems(object, data),
  ];
}

/** Validates the keys that a type requires. */
function typeProblems({ metadata, ...object }: KubeObject, data: Readonly<Record<string, unknown>>): StatusCause[] {
  const missing = (...keys: readonly string[]): StatusCause[] =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => fieldRequired(`data[${key}]`));
  switch (object["type"]) {
    case SERVICE_ACCOUNT_TOKEN: {
      const named = (metadata.annotations?.[SERVICE_ACCOUNT_NAME] ?? "") !== "";
      return named ? [] : [fieldRequired(`metadata.annotations[${SERVICE_ACCOUNT_NAME}]`)];
    }
    case "kubernetes.io/dockercfg":
      return jsonProblems(".dockercfg", data);
    case "kubernetes.io/dockerconfigjson":
      return jsonProblems(".dockerconfigjson", data);
    case "kubernetes.io/basic-auth": {
      const both = missing("username", "password");
      return both.length === 2 ? both : [];
    }
    case "kubernetes.io/ssh-auth":
      return textOf(data["ssh-privatekey"]) === "" ? [fieldRequired("data[ssh-privatekey]")] : [];
    case "kubernetes.io/tls":
      return missing("tls.crt", "tls.key");
    default:
      return [];
  }
}

function jsonProblems(key: string, data: Readonly<Record<string, unknown>>): StatusCause[] {
  const field = `data[${key}]`;
  if (!Object.hasOwn(data, key)) return [fieldRequired(field)];
  const wrong = whyNoObject(Buffer.from(textOf(data[key]), "base64").toString("utf8"));
  return wrong === undefined ? [] : [fieldInvalid(field, "<secret contents redacted>", wrong)];
}

function whyNoObject(json: string): string | undefined {
  try {
    const { value } = parseJson(json);
    if (isJsonObject(value) || value === null) return undefined;
    const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const columns: Columns = {
  Type: {
    type: "string",
    jsonPath: ".type",
    description: "Used to facilitate programmatic handling of secret data.",
  },
  Data: {
    type: "integer",
    advertisedType: "string",
    description: "Data contains the secret data.",
    value: (object) => countOf(object["data"]),
  },
  Age: AGE,
};

/** `v1` Secret. Security: a user who can read or list Secrets can impersonate their owners. */
export const Secret: Resource<SecretContent> = new Resource<SecretContent>({
  group: "",
  version: "v1",
  kind: "Secret",
  scope: "Namespaced",
  description: "Secret holds secret data of a certain type.",
  schema: {
    type: "object",
    properties: {
      data: {
        type: "object",
        description: "Base64-encoded values by key. Keys consist of letters, digits, -, _ and .",
        additionalProperties: { type: "string" },
      },
      stringData: textMap("Plain text by key, write-only; replaces the values of data with the same key."),
      type: {
        ...text("Purpose of the Secret. Immutable; some types require certain keys."),
        default: "Opaque",
      },
      immutable: flag("If true, only metadata can be changed, and this field cannot be reset."),
    },
  },
  columns,
  selectableFields: [".type"],
  strategy: { generation: false, unconditionalUpdate: true, defaults, problems },
});

export const secrets: BuiltInKind = { resource: Secret, verbs: STANDARD_VERBS };
