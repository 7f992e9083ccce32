import type { Admit } from "@virtual-workspaces/framework";
import { schemaProblems } from "@virtual-workspaces/framework";
import {
  type APIResourceSchema,
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
  type SchemaRules,
} from "@virtual-workspaces/kcp";
import { refusedFor } from "./refusals.ts";

/** With the expressions of `x-kubernetes-validations` compiled, and their cost estimated. */
const RULES: SchemaRules = { schemaProblems };

/** Admission of APIResourceSchemas: what a CustomResourceDefinition could not be is refused, and every change of the spec. */
export const admitApiResourceSchema: Admit = (request) => {
  const { object, oldObject } = request;
  if (object === undefined) return;
  request.validate((valid) => {
    const next = valid as APIResourceSchema;
    const problems =
      oldObject === undefined
        ? apiResourceSchemaProblems(next, RULES)
        : apiResourceSchemaUpdateProblems(next, oldObject as APIResourceSchema, RULES);
    if (problems.length > 0) throw refusedFor(request, problems);
  });
};
