// CustomResourceDefinition as a kind, with the minimum needed to store its objects.
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
