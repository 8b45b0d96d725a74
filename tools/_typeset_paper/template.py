"""The template of a paper: it shows data, and evaluates none of it."""

TEMPLATE = r"""// Typeset with: typst compile paper.typ
// All words stand in paper.json; strings are shown as they are and never evaluated.
#let paper = json("paper.json")

#set document(title: paper.title)
#set page(paper: "a4", margin: (x: 2.4cm, y: 2.6cm), numbering: "1")
#set text(size: 10.5pt, lang: paper.language, hyphenate: true)
#set par(justify: true, leading: 0.62em, spacing: 0.9em)
#set heading(numbering: "1.1")
#show heading: set block(above: 1.4em, below: 0.7em)

#let mark(number) = link(label("ref-" + str(number)), str(number))
#let cited(one) = [#sym.space.nobreak.narrow\[#one.numbers.map(mark).join[, ]\]]
#let bold(one) = if one.kind == "strong" { strong(one.text) } else { one.text }
#let part(one) = if one.kind == "cite" { cited(one) } else { bold(one) }
#let prose(parts) = par(parts.map(part).join())

#align(center)[
  #block(below: 0.8em, text(size: 17pt, weight: "bold", hyphenate: false, paper.title))
  #text(size: 9.5pt, fill: luma(90), paper.byline)
]

#if paper.abstract.len() > 0 {
  pad(x: 1.2cm, y: 0.6em)[
    #align(center, text(weight: "bold", paper.words.abstract))
    #set text(size: 9.5pt)
    #for one in paper.abstract { prose(one) }
  ]
}

#for section in paper.sections {
  heading(level: 1, section.heading)
  for one in section.paragraphs { prose(one) }
  for one in section.figures {
    figure(image(one.file, width: 85%), caption: one.caption.map(part).join(), supplement: paper.words.figure)
  }
}

#if paper.note != "" {
  block(above: 1.6em, text(size: 9pt, fill: luma(90), paper.note))
}

#if paper.references.len() > 0 {
  heading(level: 1, numbering: none, paper.words.references)
  set par(justify: false)
  set text(size: 9pt)
  for one in paper.references {
    block(below: 0.7em, grid(
      columns: (2.2em, 1fr),
      [\[#one.number\]#label("ref-" + str(one.number))],
      [#one.title#if one.title != "" [. ]#if one.link != "" {
        link(one.link, one.source)
      } else { raw(one.source) }#if one.detail != "" [ (#one.detail)].],
    ))
  }
}
"""
