import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualRows {
  readonly count: number;
  /** Height of a row in CSS pixels. */
  readonly size: number;
  readonly scroller: { readonly current: HTMLElement | null };
  /** Index of a row that stays in the document although it is not visible: it has the focus. */
  readonly keep: number;
}

/** Renders only the visible rows of a long list. */
export function useVirtualRows({ count, size, scroller, keep }: VirtualRows): Virtualizer<HTMLElement, HTMLElement> {
  const [, update] = useReducer((version: number, _: undefined) => version + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => size,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => update(undefined),
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range);
      if (keep < 0 || keep >= count || indexes.includes(keep)) return indexes;
      return [...indexes, keep].sort((a, b) => a - b);
    },
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
