import { isJsonObject } from "@virtual-workspaces/apimachinery";
import type { PolicyRule } from "@virtual-workspaces/framework";
import { parse } from "yaml";
import { Failure } from "../usage.ts";

const LISTS = ["verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"] as const;

/**
 * The rules of an allow file: a list of them, or an object with `rules`, as a ClusterRole is.
 *
 * @throws Failure naming the file, the rule and the field
 */
export function readRules(text: string, file: string): readonly PolicyRule[] {
  const content = parsed(text, file);
  const rules: unknown = isJsonObject(content) ? content["rules"] : content;
  if (!Array.isArray(rules)) throw new Failure(`${file}: give a list of rules, or rules: as a ClusterRole has them`);
  return rules.map((rule: unknown, at) => {
    const problem = problemIn(rule);
    if (problem !== undefined) throw new Failure(`${file}: rules[${at}]${problem}`);
    return rule as PolicyRule;
  });
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new Failure(`${file}: it is no YAML`, { cause });
  }
}

function problemIn(rule: unknown): string | undefined {
  if (!isJsonObject(rule)) return ": it is no rule";
  const unknown = Object.keys(rule).find((name) => !LISTS.includes(name as never));
  if (unknown !== undefined) return `.${unknown}: there is no such field: the fields are ${LISTS.join(", ")}`;
  const bad = LISTS.find((name) => rule[name] !== undefined && !isWords(rule[name]));
  if (bad !== undefined) return `.${bad}: give a list of words`;
  if (rule["verbs"] === undefined) return '.verbs: say which, or ["*"]';
  if (rule["resources"] === undefined && rule["nonResourceURLs"] === undefined)
    return ": say of which resources or nonResourceURLs: a rule without them allows nothing";
  if (rule["resources"] !== undefined && rule["apiGroups"] === undefined) return '.apiGroups: say of which, or ["*"]';
  return undefined;
}

function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
