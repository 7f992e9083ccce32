import { Component } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import type { LogLine } from "./log-lines.ts";

interface LogViewProps {
  readonly label: string;
  readonly lines: readonly LogLine[];
  readonly search: string;
  readonly hasTimes: boolean;
  readonly isWrapped: boolean;
  /** In place of lines. */
  readonly none: string;
}

/** Lines in one element of the document. */
const BLOCK = 200;
/** Distance from the end in CSS pixels within which the view follows it. */
const NEAR = 40;

/** Lines of a log. The view stays at the end until the user scrolls up. Security: a line is text, whatever it contains. */
export function LogView({ label, lines, search, hasTimes, isWrapped, none }: LogViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = () => {
    const { current } = scroller;
    if (current !== null) current.scrollTop = current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  }, [lines, isWrapped, hasTimes]);
  const onScroll = () => {
    const { current } = scroller;
    if (current === null) return;
    follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR;
    setAtEnd(follows.current);
  };
  return (
    <div class="log-frame">
      <div
        ref={scroller}
        class={isWrapped ? "log wrapped" : "log"}
        role="log"
        aria-live="off"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys
        tabIndex={0}
        onScroll={onScroll}
      >
        {lines.length === 0 && <p class="muted">{none}</p>}
        {blocksOf(lines).map((block) => (
          <Block key={Math.floor((block[0]?.id ?? 0) / BLOCK)} lines={block} search={search} hasTimes={hasTimes} />
        ))}
      </div>
      {!isAtEnd && (
        <button type="button" class="to-end" onClick={toEnd}>
          {texts.logs.toEnd}
        </button>
      )}
    </div>
  );
}

/** Groups lines, always in the same way, so that only the last group changes when lines come. */
function blocksOf(lines: readonly LogLine[]): readonly (readonly LogLine[])[] {
  const blocks: LogLine[][] = [];
  let number = -1;
  for (const line of lines) {
    const own = Math.floor(line.id / BLOCK);
    if (own !== number) blocks.push([]);
    number = own;
    blocks.at(-1)?.push(line);
  }
  return blocks;
}

interface BlockProps {
  readonly lines: readonly LogLine[];
  readonly search: string;
  readonly hasTimes: boolean;
}

/** Lines that are rendered again only if they change: the others of a long log stay as they are. */
class Block extends Component<BlockProps> {
  override shouldComponentUpdate({ lines, search, hasTimes }: BlockProps): boolean {
    const { props } = this;
    const isSame = lines.length === props.lines.length && lines[0] === props.lines[0];
    return !isSame || search !== props.search || hasTimes !== props.hasTimes;
  }

  override render({ lines, search, hasTimes }: BlockProps) {
    const textOf = ({ time, text }: LogLine): string => (hasTimes && time !== "" ? `${time} ${text}` : text);
    const text = `${lines.map(textOf).join("\n")}\n`;
    return <pre dir="ltr">{search === "" ? text : marked(text, search)}</pre>;
  }
}

/** The text with what was found. */
function marked(text: string, search: string) {
  const lower = text.toLowerCase();
  // A character whose lower case is longer would shift the places.
  if (lower.length !== text.length) return text;
  const pieces = [];
  let at = 0;
  for (let found = lower.indexOf(search); found >= 0; found = lower.indexOf(search, at)) {
    pieces.push(text.slice(at, found), <mark key={found}>{text.slice(found, found + search.length)}</mark>);
    at = found + search.length;
  }
  return [...pieces, text.slice(at)];
}
