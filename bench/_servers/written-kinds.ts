import type { JsonSchema } from "@virtual-workspaces/apimachinery";

export type KindName = "Free" | "Typed" | "Ruled";

const FREE: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const TYPED: JsonSchema = {
  type: "object",
  required: ["replicas", "containers"],
  properties: {
    replicas: { type: "integer", minimum: 0, maximum: 1000 },
    max: { type: "integer", default: 1000 },
    strategy: { type: "string", enum: ["Recreate", "RollingUpdate"], default: "RollingUpdate" },
    labels: { type: "object", maxProperties: 50, additionalProperties: { type: "string", maxLength: 63 } },
    containers: {
      type: "array",
      maxItems: 100000,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name", "image"],
        properties: {
          name: { type: "string", pattern: "^[a-z][a-z0-9-]*$", maxLength: 63 },
          image: { type: "string", maxLength: 300 },
          args: { type: "array", maxItems: 20, items: { type: "string", maxLength: 300 } },
          ports: {
            type: "array",
            maxItems: 20,
            items: {
              type: "object",
              properties: {
                port: { type: "integer", minimum: 1, maximum: 65535 },
                name: { type: "string", maxLength: 63 },
              },
            },
          },
        },
      },
    },
  },
};

/** A schema with a rule; another one for each `variant`. */
export function ruledSpec(variant = 0): JsonSchema {
  return {
    ...TYPED,
    description: variant === 0 ? "a bench" : `bench ${variant}`,
    "x-kubernetes-validations": [{ rule: "self.replicas <= self.max", message: "more replicas than there may be" }],
  };
}

export function specOf(kind: KindName): JsonSchema {
  if (kind === "Free") return FREE;
  return kind === "Typed" ? TYPED : ruledSpec();
}

/** An object of about so many bytes as JSON. */
export function writtenObject(kind: string, metadata: object, bytes: number): object {
  const container = (at: number): object => ({
    name: `c-${String(at).padStart(6, "0")}`,
    image: `images.example/team/app-${at % 7}:1.2.${at % 10}`,
    args: ["--verbose", `--id=${at}`, "--address=0.0.0.0:8080"],
    ports: [{ port: 8080, name: "http" }],
  });
  const frame = {
    apiVersion: "bench.example/v1",
    kind,
    metadata,
    spec: { replicas: 3, labels: { app: "bench", tier: "front" }, containers: [] as object[] },
  };
  const each = JSON.stringify(container(0)).length + 1;
  const count = Math.max(1, Math.round((bytes - JSON.stringify(frame).length) / each));
  for (let at = 0; at < count; at++) frame.spec.containers.push(container(at));
  return frame;
}
