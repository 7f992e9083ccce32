import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import type { Holds } from "./kind.ts";
import { AGE, apis } from "./kind.ts";

const version = { type: "string", minLength: 1, pattern: "^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$" } as const;

/** APIConversion v1alpha1: rules between the versions of the APIResourceSchema of the same name. */
export const APIConversion = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIConversion",
  description: "Rules between the versions of the APIResourceSchema of the same name.",
  columns: { Age: AGE },
  spec: {
    type: "object",
    description: "The rules.",
    required: ["conversions"],
    properties: {
      conversions: {
        type: "array",
        description: "Rules from one version to another.",
        items: {
          type: "object",
          required: ["from", "rules", "to"],
          properties: {
            from: { ...version, description: "The version that an object has." },
            to: { ...version, description: "The version that is wanted." },
            preserve: {
              type: "array",
              description: "JSON paths of fields that the other version lacks; they are kept in an annotation.",
              items: { type: "string" },
            },
            rules: {
              type: "array",
              description: "Rules for single fields.",
              items: {
                type: "object",
                required: ["destination", "field"],
                properties: {
                  destination: { type: "string", description: "JSON path of the field that is set.", minLength: 1 },
                  field: { type: "string", description: "JSON path of the field that is read.", minLength: 1 },
                  transformation: { type: "string", description: "CEL that makes one of the other, which is `self`." },
                },
              },
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["destination"],
            },
          },
        },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["from", "to"],
      },
    },
  },
});

/** An {@link APIConversion} of version v1alpha1. */
export type APIConversion = ObjectOf<Holds<typeof APIConversion>>;
