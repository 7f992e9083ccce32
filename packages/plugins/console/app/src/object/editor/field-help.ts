import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { placeAt } from "../schema/place.ts";
import type { FieldSchema } from "../schema/schema.ts";

const KEY = /^(\s*(?:- +)*)([\w./-]+)(?=\s*:(?:\s|$))/;

/** Shows the type and the description of a field while the pointer is on its name. */
export function fieldHelp(schemaOf: () => FieldSchema | undefined): Extension {
  return hoverTooltip((view, pos) => {
    const schema = schemaOf();
    const line = view.state.doc.lineAt(pos);
    const [, lead = "", name = ""] = KEY.exec(line.text) ?? [];
    const from = line.from + lead.length;
    const to = from + name.length;
    if (schema === undefined || name === "" || pos < from || pos > to) return null;
    const place = placeAt(view.state.doc.toString().split("\n"), line.number - 1, lead);
    const field = place === undefined ? undefined : schema.at(place.parent)?.field(name);
    if (field === undefined) return null;
    return { pos: from, end: to, above: true, create: () => ({ dom: helpOf(name, field) }) };
  });
}

function helpOf(name: string, field: FieldSchema): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-field-help";
  const title = document.createElement("b");
  title.textContent = name;
  const type = document.createElement("span");
  type.textContent = field.typeName;
  dom.append(title, type);
  if (field.description !== "") {
    const text = document.createElement("div");
    text.textContent = field.description;
    dom.append(text);
  }
  return dom;
}
