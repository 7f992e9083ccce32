import { cloneJson, isJsonObject, type JsonObject, setMember } from "../json/value.ts";
import { memberNode, type SchemaNode } from "./node.ts";

/**
 * Sets what is missing, or null where the schema does not allow it, to the schema's default, in place and at every level,
 * within defaults too (apiextensions' defaulting.Default). What is set is a copy.
 */
export function setDefaults(value: unknown, node: SchemaNode): void {
  if (!node.tasks.defaults) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) setItemDefaults(value, node.items);
  } else if (isJsonObject(value)) setMemberDefaults(value, node);
}

function setItemDefaults(list: unknown[], node: SchemaNode): void {
  for (const [at, item] of list.entries()) {
    if (item === null && !node.nullable) list[at] = cloneJson(node.default ?? null);
    setDefaults(list[at], node);
  }
}

function setMemberDefaults(object: JsonObject, node: SchemaNode): void {
  for (const [name, member] of node.defaulted) {
    const missing = !Object.hasOwn(object, name) || object[name] === undefined;
    if (missing || (object[name] === null && !member.nullable)) setMember(object, name, cloneJson(member.default));
  }
  for (const name of Object.keys(object)) {
    const member = memberNode(node, name);
    if (member === undefined) continue;
    if (object[name] === null && !member.nullable && member.default !== undefined)
      setMember(object, name, cloneJson(member.default));
    setDefaults(object[name], member);
  }
}
