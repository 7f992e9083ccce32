import { fieldInvalid, fieldTooLong, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { base64Bytes, checkBase64, immutableProblems, keyProblems, MAX_DATA } from "./data.ts";
import { flag, textMap } from "./descriptions.ts";
import { countOf, finalizerProblems, membersOf, textOf } from "./problems.ts";
import { configMapMessage } from "./protobuf.ts";

/** What a ConfigMap holds. */
export interface ConfigMapContent {
  data?: Record<string, string>;
  /** In base64. */
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
    // Kubernetes names the whole object so.
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
        "Texts by key: letters, digits, -, _ and . are what a key is made of. A key is in one of data and binaryData.",
      ),
      binaryData: {
        type: "object",
        description: "Bytes by key, in base64.",
        additionalProperties: { type: "string" },
      },
      immutable: flag("If true, nothing but metadata can be changed any more, and this neither."),
    },
  },
  columns,
  protobuf: configMapMessage,
  strategy: {
    generation: false,
    unconditionalUpdate: true,
    defaults: (object) => checkBase64(object, "binaryData"),
    problems,
  },
});

export const configMaps: BuiltInKind = { resource: ConfigMap, verbs: STANDARD_VERBS };
