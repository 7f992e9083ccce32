import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { navigate, route, routeTo, setQuery } from "../route.ts";
import { texts } from "../texts.ts";
import { Icon } from "../ui/icons.tsx";
import { useVirtualRows } from "../ui/virtual-rows.ts";
import { deletedWorkspace } from "./delete-workspace.tsx";
import { goToIsOpen } from "./go-to.tsx";
import { firstFound, foundCount, reveal, rowId, setOpen, type TreeRow, treeRows } from "./tree-model.ts";
import { TreeRowView } from "./tree-row.tsx";

const ROW = 28;

/** The tree of workspaces, with its search. Follows the tree pattern of WAI-ARIA. */
export function WorkspaceTree({ onChoose }: { readonly onChoose: () => void }) {
  const { find = "" } = route.value.query;
  const active = useSignal(rowId(route.value.workspace));
  const wantsFocus = useRef(false);
  const enterTree = () => {
    const first = find === "" ? undefined : firstFound.peek();
    const shown = document.querySelector<HTMLElement>("[role=treeitem][tabindex='0']");
    if (first !== undefined && first !== shown?.id) {
      active.value = first;
      wantsFocus.current = true;
    }
    // At once: the next key may come before the row is rendered.
    shown?.focus();
  };
  return (
    <>
      <div class="tree-tools">
        <label class="search">
          <Icon name="search" />
          <span class="visually-hidden">{texts.tree.search}</span>
          <input
            type="search"
            data-search=""
            value={find}
            placeholder={texts.tree.search}
            onInput={({ currentTarget }) => setQuery({ find: currentTarget.value || undefined })}
            onKeyDown={(event) => {
              if (event.key !== "ArrowDown") return;
              event.preventDefault();
              enterTree();
            }}
          />
        </label>
        <button type="button" class="quiet" onClick={() => (goToIsOpen.value = true)}>
          {texts.tree.goTo}
        </button>
      </div>
      <p class="hint found" role="status">
        {find !== "" && texts.tree.found(foundCount.value)}
      </p>
      <TreeRows active={active} wantsFocus={wantsFocus} onChoose={onChoose} />
    </>
  );
}

interface TreeRowsProps {
  /** Row of the tab order, by its id: rows come and go. */
  readonly active: Signal<string>;
  /** Whether the next rendering gives it the focus. */
  readonly wantsFocus: { current: boolean };
  readonly onChoose: () => void;
}

function TreeRows({ active, wantsFocus, onChoose }: TreeRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = treeRows.value;
  const current = route.value.workspace;
  const found = rows.findIndex((row) => row.id === active.value);
  const activeIndex = found < 0 ? 0 : found;
  const virtualizer = useVirtualRows({ count: rows.length, size: ROW, scroller, keep: activeIndex });

  const isFirst = useRef(true);
  // Effects of the layout, because a later one would come between a key and its rendering.
  useLayoutEffect(() => {
    // The address of the beginning says which workspaces are open.
    if (!isFirst.current) reveal(current);
    isFirst.current = false;
    active.value = rowId(current);
    const index = treeRows.peek().findIndex(({ kind, path }) => kind === "workspace" && path === current);
    if (index >= 0) virtualizer.scrollToIndex(index, { align: "auto" });
  }, [current, active, virtualizer]);
  const { find = "" } = route.value.query;
  useEffect(() => {
    if (find !== "" && firstFound.peek() !== undefined) active.value = firstFound.peek() ?? "";
  }, [find, active]);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    scroller.current?.querySelector<HTMLElement>("[role=treeitem][tabindex='0']")?.focus({ preventScroll: true });
  });

  const moveTo = (index: number) => {
    const rows = treeRows.peek();
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    wantsFocus.current = true;
    active.value = row.id;
    virtualizer.scrollToIndex(rows.indexOf(row), { align: "auto" });
  };
  const choose = (row: TreeRow) => {
    if (row.kind === "note") return row.list?.reload();
    navigate(row.shown?.route ?? routeTo({ workspace: row.path }));
    onChoose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys may come faster than the page is rendered: the row is the one of the last key.
    const rows = treeRows.peek();
    const index = Math.max(
      0,
      rows.findIndex(({ id }) => id === active.peek()),
    );
    const row = rows[index];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actionOf(event.key, { row, rows, index, moveTo, choose });
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const onClick = (event: MouseEvent) => {
    const { target } = event;
    if (!(target instanceof Element)) return;
    const id = target.closest("[role=treeitem]")?.id;
    const row = rows.find((one) => one.id === id);
    if (row === undefined) return;
    active.value = row.id;
    if (target.closest("[data-toggle]") !== null) setOpen(row.path, !row.isOpen);
    else if (target.closest("a, button") === null && row.kind !== "note") choose(row);
    else if (target.closest("a") !== null) onChoose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is a tree; its rows have the focus.
    <div class="tree" ref={scroller} role="presentation" onKeyDown={onKeyDown} onClick={onClick}>
      <div role="tree" aria-label={texts.tree.label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const isCurrent = row.kind === "workspace" && row.path === current;
          return (
            <TreeRowView key={row.id} row={row} top={start} isCurrent={isCurrent} isActive={index === activeIndex} />
          );
        })}
      </div>
    </div>
  );
}

interface KeyContext {
  readonly row: TreeRow;
  readonly rows: readonly TreeRow[];
  readonly index: number;
  readonly moveTo: (index: number) => void;
  readonly choose: (row: TreeRow) => void;
}

/** What a key does at a row, by the tree pattern of WAI-ARIA; undefined: nothing. */
function actionOf(key: string, { row, rows, index, moveTo, choose }: KeyContext): (() => void) | undefined {
  switch (key) {
    case "ArrowDown":
      return () => moveTo(index + 1);
    case "ArrowUp":
      return () => moveTo(index - 1);
    case "Home":
      return () => moveTo(0);
    case "End":
      return () => moveTo(rows.length - 1);
    case "PageDown":
      return () => moveTo(index + 15);
    case "PageUp":
      return () => moveTo(index - 15);
    case "ArrowRight":
      if (row.kind !== "workspace") return undefined;
      return () => (row.isOpen ? moveTo(index + 1) : setOpen(row.path, true));
    case "ArrowLeft":
      if (row.isOpen) return () => setOpen(row.path, false);
      return () => moveTo(rows.findLastIndex((one, at) => at < index && one.level === row.level - 1));
    case "Enter":
    case " ":
      return () => choose(row);
    case "Delete":
      if (row.workspace === undefined) return undefined;
      return () => {
        deletedWorkspace.value = row;
      };
    default:
      return undefined;
  }
}
