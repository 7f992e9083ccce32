import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import type { Holds } from "./kind.ts";
import { AGE, apis } from "./kind.ts";

const version = { type: "string", minLength: 1, pattern: "^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$" } as const;

/** APIConversion v1alpha1: conversion rules between the versions of the APIResourceSchema with the same name. */
export const APIConversion = defineResource({
  ...apis,
  version: "v1alpha1",
  kind: "APIConversion",
  description: "Conversion rules between the versions of the APIResourceSchema with the same name.",
  columns: { Age: AGE },
  spec: {
    type: "object",
    description: "Conversion rules.",
    required: ["conversions"],
    properties: {
      conversions: {
        type: "array",
        description: "Rules for one pair of versions.",
        items: {
          type: "object",
          required: ["from", "rules", "to"],
          properties: {
            from: { ...version, description: "Version of the given object." },
            to: { ...version, description: "Version of the result." },
            preserve: {
              type: "array",
              description: "JSON paths of fields that the other version lacks. An annotation preserves them.",
              items: { type: "string" },
            },
            rules: {
              type: "array",
              description: "Rules for single fields.",
              items: {
                type: "object",
                required: ["destination", "field"],
                properties: {
                  destination: { type: "string", description: "JSON path of the field in the result.", minLength: 1 },
                  field: { type: "string", description: "JSON path of the field in the given object.", minLength: 1 },
                  transformation: { type: "string", description: "CEL expression that converts the value `self`." },
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

/** {@link APIConversion} of version v1alpha1. */
export type APIConversion = ObjectOf<Holds<typeof APIConversion>>;
