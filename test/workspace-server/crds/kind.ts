// CustomResourceDefinition as a kind: as little of it as its objects need to be kept.
import { defineResource, type Resource } from "@virtual-workspaces/framework";
import type { CrdContent } from "../../../packages/workspace-server/src/crds/definition/definition.ts";

const ANYTHING = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

export const Crd = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  scope: "Cluster",
  shortNames: ["crd", "crds"],
  spec: ANYTHING,
  status: ANYTHING,
}) as unknown as Resource<CrdContent>;
