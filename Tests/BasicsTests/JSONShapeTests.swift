import Basics
import Testing

@Suite struct JSONShapeTests {
  private struct Pet: JSONAnswer {
    enum Kind: String, JSONWord { case cat, dog }

    var name: String
    var kind = Kind.cat
    var age: Int?
    var chip: Int?

    static let shape = JSONShape<Pet>([
      "name": .show("Tom") { $0.name }, "kind": .show { $0.kind }, "age": .show { $0.age },
      "chip": .maybe(words: "In its ear.") { $0.chip },
    ]).named("Pet")
  }

  private struct Owner: JSONAnswer {
    var pets: [Pet]
    var favourite: Pet?

    static let shape: JSONShape<Owner> = [
      "pets": .show { $0.pets }, "favourite": .show { $0.favourite }, "photos": .elsewhere([String].schema),
    ]
  }

  @Test("Members are written in their order; null stands for none, and what may be left out is")
  func written() {
    #expect(Pet(name: "Tom").json.text == #"{"name":"Tom","kind":"cat","age":null}"#)
    #expect(
      Pet(name: "Rex", kind: .dog, age: 3, chip: 7).json.text
        == #"{"name":"Rex","kind":"dog","age":3,"chip":7}"#)
    #expect(Owner(pets: [], favourite: nil).json.text == #"{"pets":[],"favourite":null}"#)
  }

  @Test("The schema says what each is, and requires what is always there")
  func schema() {
    #expect(
      Pet.schema.definition.text
        == #"{"type":"object","required":["name","kind","age"],"properties":{"name":{"type":"string"},"#
        + #""kind":{"type":"string","enum":["cat","dog"]},"age":{"type":["integer","null"]},"#
        + #""chip":{"type":"integer","description":"In its ear."}}}"#)
  }

  @Test("What has a name is referred to by it")
  func references() {
    let pet = ##"{"$ref":"#/components/schemas/Pet"}"##
    #expect(
      Owner.schema.definition.text
        == #"{"type":"object","required":["pets","favourite","photos"],"properties":{"pets":{"type":"array","#
        + #""items":\#(pet)},"favourite":{"oneOf":[{"type":"null"},\#(pet)]},"#
        + #""photos":{"type":"array","items":{"type":"string"}}}}"#)
  }

  @Test("Examples are those of the members, without what may be left out")
  func examples() {
    let pet = #"{"name":"Tom","kind":"cat","age":null}"#
    #expect(Pet.schema.example.text == pet)
    #expect(Owner.schema.example.text == #"{"pets":[\#(pet)],"favourite":null,"photos":[]}"#)
  }

  @Test("Members of a part are members of the whole")
  func parts() {
    let name: JSONShape<Pet> = ["name": .show { $0.name }]
    let shape: JSONShape<Owner> = name.of { $0.pets[0] } + ["count": .show { $0.pets.count }]
    let owner = Owner(pets: [Pet(name: "Tom")], favourite: nil)
    #expect(shape.write(owner).text == #"{"name":"Tom","count":1}"#)
  }
}
