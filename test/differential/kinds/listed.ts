import { kind } from "./kind.ts";

/** Kind with typed lists and maps, which affect apply and validation. */
export const LISTED = kind({
  kind: "Listed",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          text: { type: "string" },
          set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
          numbers: { type: "array", "x-kubernetes-list-type": "set", items: { type: "integer" } },
          ports: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            items: {
              type: "object",
              required: ["port"],
              properties: {
                port: { type: "integer" },
                protocol: { type: "string", default: "TCP" },
                name: { type: "string" },
                options: { type: "object", additionalProperties: { type: "string" } },
              },
            },
          },
          people: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: {
              type: "object",
              required: ["name"],
              properties: {
                name: { type: "string" },
                age: { type: "integer" },
                skills: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
              },
            },
          },
          atoms: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "string" } },
          atomicMap: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
          granularMap: {
            type: "object",
            "x-kubernetes-map-type": "granular",
            additionalProperties: { type: "string" },
          },
          atomicStruct: {
            type: "object",
            "x-kubernetes-map-type": "atomic",
            properties: { a: { type: "string" }, b: { type: "string" } },
          },
          struct: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
        },
      },
    },
  },
});
