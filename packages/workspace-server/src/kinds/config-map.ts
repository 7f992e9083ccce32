import { fieldInvalid, fieldTooLong, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { base64Bytes, checkBase64, immutableProblems, keyProblems, MAX_DATA } from "./data.ts";
import { flag, textMap } from "./descriptions.ts";
import { countOf, finalizerProblems, membersOf, textOf } from "./problems.ts";

/** Fields of a ConfigMap. */
export interface ConfigMapContent {
  data?: Record<string, string>;
  /** Base64-encoded bytes by key. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

function problems(object: KubeObject, before: KubeObject | undefined): StatusCause[] {
  const [data, binary] = [membersOf(object["data"]), membersOf(object["binaryData"])];
  const both = Object.keys(data).filter((key) => Object.hasOwn(binary, key));
  const bytes =
    Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(textOf(value)), 0) +
    Object.values(binary).reduce<number>((sum, value) => sum + base64Bytes(textOf(value)), 0);
  return [
    ...finalizerProblems(object.metadata),
    ...(before === undefined ? [] : immutableProblems(object, before, ["data", "binaryData"])),
    ...keyProblems("data", data),
    ...both.map((key) => fieldInvalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
    ...keyProblems("binaryData", binary),
    // Kubernetes uses this field path for the whole object.
    ...(bytes > MAX_DATA ? [fieldTooLong("[]", MAX_DATA)] : []),
  ];
}

const columns: Columns = {
  Data: {
    type: "integer",
    advertisedType: "string",
    description: "Data contains the configuration data.",
    value: (object) => countOf(object["data"]) + countOf(object["binaryData"]),
  },
  Age: AGE,
};

/** `v1` ConfigMap. */
export const ConfigMap: Resource<ConfigMapContent> = new Resource<ConfigMapContent>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  shortNames: ["cm"],
  description: "ConfigMap holds configuration data for pods to consume.",
  schema: {
    type: "object",
    properties: {
      data: textMap(
        "Text by key. Keys consist of letters, digits, -, _ and . and are in only one of data and binaryData.",
      ),
      binaryData: {
        type: "object",
        description: "Base64-encoded bytes by key.",
        additionalProperties: { type: "string" },
      },
      immutable: flag("If true, only metadata can be changed, and this field cannot be reset."),
    },
  },
  columns,
  strategy: {
    generation: false,
    unconditionalUpdate: true,
    defaults: (object) => checkBase64(object, "binaryData"),
    problems,
  },
});

export const configMaps: BuiltInKind = { resource: ConfigMap, verbs: STANDARD_VERBS };
