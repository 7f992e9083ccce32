import type { PanelElements, PanelPlace } from "@virtual-workspaces/framework/panel";
import { type ComponentChild, render } from "preact";
import { Copy, Url } from "../kcp/copy.tsx";
import { ageOf, dateOf } from "../ui/age.ts";
import { texts } from "./texts.ts";

interface ElementParts {
  /** Aborts when the panel ends. */
  readonly signal: AbortSignal;
  readonly href: (place: PanelPlace) => string;
}

/** Parts of the page as elements. */
export function panelElements({ signal, href }: ElementParts): PanelElements {
  const rendered = (part: ComponentChild): HTMLElement => {
    const element = document.createElement("span");
    render(part, element);
    signal.addEventListener("abort", () => render(null, element), { once: true });
    return element;
  };
  return {
    facts: (values) => {
      const list = made("dl", "facts");
      for (const [name, value] of Object.entries(values)) {
        if (value === undefined) continue;
        const row = made("div");
        const [term, description] = [made("dt"), made("dd")];
        term.append(name);
        description.append(value);
        row.append(term, description);
        list.append(row);
      }
      return list;
    },
    badge: (text, tone = undefined) => {
      const badge = made("span", tone === undefined ? "badge" : `badge ${tone}`);
      badge.append(text);
      return badge;
    },
    time: (at) => {
      const time = document.createElement("time");
      time.dateTime = at;
      time.title = dateOf(at);
      time.append(texts.ago(ageOf(at)));
      return time;
    },
    link: (text, place) => {
      const link = document.createElement("a");
      link.href = href(place);
      const name = made("bdi");
      name.append(text);
      link.append(name);
      return link;
    },
    url: (url, name) => rendered(<Url url={url} name={name} />),
    copy: (label, text) => rendered(<Copy label={label} text={() => text} />),
  };
}

function made(tag: string, className = ""): HTMLElement {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  return element;
}
