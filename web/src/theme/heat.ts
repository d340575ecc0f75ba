// One hue from light to dark; nothing is the background.
const kStops: [number, number, number][] = [
  [232, 240, 252],
  [150, 186, 240],
  [57, 102, 206],
  [24, 44, 110],
];
const kDark: [number, number, number][] = [
  [30, 38, 54],
  [42, 74, 140],
  [84, 138, 232],
  [190, 220, 255],
];

export function isDark(): boolean {
  const chosen = document.documentElement.dataset['theme'];
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function heatRgb(share: number): [number, number, number] {
  const stops = isDark() ? kDark : kStops;
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  const mix = (c: number) =>
    Math.round((stops[i]![c] ?? 0) + ((stops[i + 1]![c] ?? 0) - (stops[i]![c] ?? 0)) * (at - i));
  return [mix(0), mix(1), mix(2)];
}

export function heatColour(share: number): string {
  const [r, g, b] = heatRgb(share);
  return `rgb(${r} ${g} ${b})`;
}
