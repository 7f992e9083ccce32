import { useRef } from "preact/hooks";

interface TabsProps {
  /** Name of the list for screen readers. */
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly label: string }[];
  readonly current: string;
  readonly onChoose: (name: string) => void;
}

/** A list of tabs. Left, right, Home and End move between them. */
export function Tabs({ label, tabs, current, onChoose }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ name }) => name === current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.name);
    list.current?.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab.name}
          type="button"
          role="tab"
          id={`tab-${tab.name}`}
          aria-selected={tab.name === current}
          aria-controls="object-part"
          tabIndex={tab.name === current ? 0 : -1}
          onClick={() => onChoose(tab.name)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}

/** Attributes of the element that a tab shows. */
export const tabPanel = (name: string) => ({
  role: "tabpanel" as const,
  id: "object-part",
  "aria-labelledby": `tab-${name}`,
});
