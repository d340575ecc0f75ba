// Draws what a canvas view draws, as SVG: it takes the same calls. Texts of the data are only ever texts.
function escaped(text: string): string {
  // Controls are no part of XML.
  // eslint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');
  return clean.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

const round = (v: number) => Number(v.toFixed(2));

interface Style {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: string;
  textBaseline: string;
  dash: number[];
  clip: string;
}

export class SvgContext {
  private parts: string[] = [];
  private path: string[] = [];
  private clips = 0;
  private readonly stack: Style[] = [];
  private readonly ruler = document.createElement('canvas').getContext('2d')!;
  private dash: number[] = [];
  private clipName = '';
  imageSmoothingEnabled = true;
  fillStyle: string | CanvasPattern = '#000';
  strokeStyle = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '10px sans-serif';
  textAlign = 'left';
  textBaseline = 'alphabetic';

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly background: string,
  ) {}

  private look(fill: boolean): string {
    const colour = fill ? (typeof this.fillStyle === 'string' ? this.fillStyle : '#888') : this.strokeStyle;
    const alpha = this.globalAlpha === 1 ? '' : ` opacity="${round(this.globalAlpha)}"`;
    const clip = this.clipName ? ` clip-path="url(#${this.clipName})"` : '';
    if (fill) return ` fill="${escaped(colour)}"${alpha}${clip}`;
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(' ')}"` : '';
    return ` fill="none" stroke="${escaped(colour)}" stroke-width="${round(this.lineWidth)}"${dash}${alpha}${clip}`;
  }
  private box(x: number, y: number, w: number, h: number): string {
    return `x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, h))}"`;
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    this.parts.push(`<rect ${this.box(x, y, w, h)}${this.look(true)}/>`);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.parts.push(`<rect ${this.box(x, y, w, h)}${this.look(false)}/>`);
  }
  clearRect(): void {}
  fillText(text: string, x: number, y: number): void {
    const anchor = this.textAlign === 'right' ? 'end' : this.textAlign === 'center' ? 'middle' : 'start';
    const size = parseFloat(/(\d+(\.\d+)?)px/.exec(this.font)?.[1] ?? '11');
    const shift =
      this.textBaseline === 'middle'
        ? 0.35
        : this.textBaseline === 'top'
          ? 0.8
          : this.textBaseline === 'bottom'
            ? -0.2
            : 0;
    this.parts.push(
      `<text x="${round(x)}" y="${round(y + shift * size)}" font-size="${size}" text-anchor="${anchor}"${this.look(true)}>${escaped(text)}</text>`,
    );
  }
  measureText(text: string): TextMetrics {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }
  beginPath(): void {
    this.path = [];
  }
  closePath(): void {
    this.path.push('Z');
  }
  moveTo(x: number, y: number): void {
    this.path.push(`M${round(x)} ${round(y)}`);
  }
  lineTo(x: number, y: number): void {
    this.path.push(`${this.path.length ? 'L' : 'M'}${round(x)} ${round(y)}`);
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path.push(`M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`);
  }
  arc(x: number, y: number, r: number): void {
    this.path.push(`M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`);
  }
  quadraticCurveTo(a: number, b: number, x: number, y: number): void {
    this.path.push(`Q${round(a)} ${round(b)} ${round(x)} ${round(y)}`);
  }
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void {
    this.path.push(`C${round(a)} ${round(b)} ${round(c)} ${round(d)} ${round(x)} ${round(y)}`);
  }
  stroke(): void {
    if (this.path.length) this.parts.push(`<path d="${this.path.join('')}"${this.look(false)}/>`);
  }
  fill(): void {
    if (this.path.length) this.parts.push(`<path d="${this.path.join('')}"${this.look(true)}/>`);
  }
  clip(): void {
    const name = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${name}"><path d="${this.path.join('')}"/></clipPath>`);
    this.clipName = name;
  }
  save(): void {
    this.stack.push({
      fillStyle: typeof this.fillStyle === 'string' ? this.fillStyle : '#888',
      strokeStyle: this.strokeStyle,
      lineWidth: this.lineWidth,
      globalAlpha: this.globalAlpha,
      font: this.font,
      textAlign: this.textAlign,
      textBaseline: this.textBaseline,
      dash: this.dash,
      clip: this.clipName,
    });
  }
  restore(): void {
    const { dash, clip, ...style } = this.stack.pop() ?? { dash: [], clip: '' };
    Object.assign(this, style);
    this.dash = dash;
    this.clipName = clip;
  }
  setLineDash(dash: number[]): void {
    this.dash = dash;
  }
  setTransform(): void {}
  createPattern(): null {
    return null;
  }
  // Pictures (tiles of the timeline) go in as pictures.
  drawImage(image: HTMLCanvasElement, ...at: number[]): void {
    const part = document.createElement('canvas');
    const [sx, sy, sw, sh, x, y, w, h] =
      at.length >= 8
        ? at
        : [0, 0, image.width, image.height, at[0], at[1], at[2] ?? image.width, at[3] ?? image.height];
    part.width = Math.max(1, Math.round(sw ?? 1));
    part.height = Math.max(1, Math.round(sh ?? 1));
    part.getContext('2d')!.drawImage(image, sx ?? 0, sy ?? 0, sw ?? 1, sh ?? 1, 0, 0, part.width, part.height);
    const smooth = this.imageSmoothingEnabled ? '' : ' style="image-rendering:pixelated"';
    this.parts.push(
      `<image ${this.box(x ?? 0, y ?? 0, w ?? 1, h ?? 1)} preserveAspectRatio="none"${smooth} href="${part.toDataURL()}"/>`,
    );
  }

  text(): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, sans-serif">\n` +
      `<rect width="100%" height="100%" fill="${escaped(this.background)}"/>\n${this.parts.join('\n')}\n</svg>\n`
    );
  }
}
