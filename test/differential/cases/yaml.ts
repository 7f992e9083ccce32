import { APPLY_TYPE, YAML_TYPE } from "../api.ts";
import { type RequestStep, type Topic, topic } from "../step.ts";
import { modes, post } from "./bodies.ts";
import { plain } from "./kinds.ts";

const raw = (text: string, query = "fieldManager=one"): RequestStep =>
  plain.raw(`PATCH ${plain.path("a", { query })}`, { type: APPLY_TYPE, text });
const body = '{"apiVersion":"oracle.dev/v1","kind":"Plain","metadata":{"name":"a"},"spec":{"text":"x"}}';

export const YAML: Topic = topic("yaml", {
  "of creates": [
    post(YAML_TYPE, "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata:\n  name: a\nspec:\n  text: hello\n  count: 1\n"),
    post(YAML_TYPE, body),
    post(YAML_TYPE, "- x"),
    post(YAML_TYPE, ""),
    post(YAML_TYPE, "a: b: c"),
    post(YAML_TYPE, "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: d}\nspec: {text: 1}\n"),
    post(YAML_TYPE, "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: 1}\n"),
    post(YAML_TYPE, "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: e}\nspec: {text: 2020-01-01, on: yes}\n"),
    post(
      YAML_TYPE,
      "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: f}\nspec: &a {text: x, nested: {a: 'q'}, labels: {<<: {k: v}}}\n",
    ),
    post(YAML_TYPE, "# comment\n---\napiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: g}\n"),
  ],
  "by field validation": modes(
    "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\nspec: {text: x, text: y, unknown: 1}\n",
    YAML_TYPE,
  ),
  "of applies": [
    raw(
      "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata:\n  name: a\nspec:\n  text: yaml\n  count: 0x10\n  on: yes\n",
    ),
    raw("apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\nspec:\n  text: 'yes'\n  on: true\n"),
    raw("apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\nspec: &x\n  text: anchor\n  nested: {a: *y}\n"),
    raw("- a\n"),
    raw("just text"),
    raw(""),
    raw("{"),
    raw("a: b: c"),
    raw("\tx: 1"),
  ],
  "of applies with duplicates": [
    raw("apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\nspec:\n  text: a\n  text: b\n"),
    raw(
      "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\nspec:\n  text: a\n  text: b\n",
      "fieldManager=one&fieldValidation=Strict",
    ),
  ],
  "of several documents": [
    post(YAML_TYPE, "apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\n---\nmetadata: {name: b}\n"),
  ],
  "of several documents, applied": [
    raw("apiVersion: oracle.dev/v1\nkind: Plain\nmetadata: {name: a}\n---\nspec: {}\n"),
  ],
});
